// Dropout: which elements are kept is drawn as in core/ops/support/dropout_mask.h.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// What is drawn for one sample.
struct DropoutStream {
  std::uint64_t key = 0;        ///< of the sample's random words
  std::uint32_t threshold = 0;  ///< elements whose words are below it are dropped
  double scale = 1;             ///< of the elements that are kept
};

/// A draw for all samples.
struct DropoutDraw {
  DropoutDraw() = default;
  /// With probability p of dropping.
  DropoutDraw(double p, std::uint64_t key, std::int64_t first_sample);

  bool drops = false;
  std::uint64_t key = 0;
  std::int64_t first_sample = 0;
  std::uint32_t threshold = 0;
  double scale = 1;

  /// Of sample first_sample + i.
  [[nodiscard]] DropoutStream stream(std::int64_t i) const;
};

/// Microbatches of elements that lie one behind the other in memory, each of runs of one sample.
struct DropoutRuns {
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;  ///< may be x
  DropoutDraw draw;
  std::int64_t parts = 1;    ///< microbatches
  std::int64_t runs = 1;     ///< in a microbatch
  std::int64_t run = 0;      ///< elements
  std::int64_t samples = 1;  ///< numbers of samples from one microbatch to the next
};
/// y = x scaled, or 0 where it is dropped.
void dropout_runs(const DropoutRuns&);

}  // namespace tessera::cpu
