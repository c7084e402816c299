// Dropout: which elements are kept is drawn as in core/ops/support/dropout_mask.h.
#pragma once

#include <cstdint>

#include <tessera/core/ops/support/draw.h>
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
  /// A draw that drops with probability p.
  DropoutDraw(double p, std::uint64_t key, std::int64_t first_sample);

  bool drops = false;
  std::uint64_t key = 0;
  std::int64_t first_sample = 0;
  std::uint32_t threshold = 0;
  double scale = 1;

  /// What is drawn for sample first_sample + i.
  [[nodiscard]] DropoutStream stream(std::int64_t i) const;
};

/// Elements that lie one behind the other in memory, in a box of a tensor whose microbatches do.
struct DropoutElements {
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;  ///< may be x
  Box box;
  std::int64_t microbatch = 0;  ///< elements of the whole tensor in one, whole samples
};
/// y = x scaled, or 0 where `draw` with probability `p` drops it.
void drop_elements(const DropoutElements& e, double p, const Draw& draw);

}  // namespace tessera::cpu
