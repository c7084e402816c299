// Microbatch borders: where a tensor that holds several microbatches is cut into them.
#pragma once

#include <cstdint>

namespace tessera {

/// How the numbers of a pass's microbatches become the number of its batch.
enum class OverPass : std::uint8_t {
  mean,     ///< by their mean: means over samples, and what is linear in them
  sum,      ///< by their sum: sums over samples, and what is linear in them
  largest,  ///< by the largest of them
  least,    ///< by the least of them
  none,     ///< by nothing: a ratio of sums, say, or the root of a mean
};

/// A pass may run several microbatches at once (docs/determinism.md). A tensor that depends on the
/// samples then carries its cut: dim `dim` holds `parts` equal pieces in microbatch order. When an
/// op reduces that dim away, the value exists once a microbatch: it gets a new dim 0 of size
/// `parts`, and the cut is `stacked`. What came of such a value and of samples is stacked too, and
/// `samples` is the dim of one microbatch that holds its samples. Tensors without a cut are equal
/// for all microbatches. One part is no border: it lets ops that mix samples notice them, and what
/// is summed over it has no cut.
struct Cut {
  std::int32_t parts = 1;
  std::int8_t dim = -1;
  bool stacked = false;
  std::int8_t samples = -1;        ///< of a stacked value alone; -1: it exists once a microbatch
  OverPass over = OverPass::mean;  ///< of a stacked value

  explicit operator bool() const noexcept { return dim >= 0; }
  /// The dim of one microbatch that holds its samples, or -1.
  [[nodiscard]] std::int8_t sample_dim() const noexcept { return stacked ? samples : dim; }
  void fields(auto&& see) const {
    see("parts", parts), see("dim", dim), see("stacked", stacked), see("samples", samples);
  }
  /// True for the same borders; `samples` and `over` tell more of what lies between them.
  friend bool operator==(const Cut& a, const Cut& b) noexcept {
    return a.parts == b.parts && a.dim == b.dim && a.stacked == b.stacked;
  }
};

}  // namespace tessera
