// Where microbatches lie in a tensor that holds several.
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
/// samples then carries where they lie: dim `dim` holds `count` equal pieces in microbatch order.
/// When an op reduces that dim away, the value exists once a microbatch: it gets a new dim 0 of
/// size `count`, and the layout is `per_microbatch`. So does what came of such a value and of
/// samples; `samples` is then the dim of one microbatch that holds its samples. Tensors without a
/// layout are equal for all microbatches. A count of one is no border: it lets ops that mix samples
/// notice them, and what is summed over it has no layout.
struct MicrobatchLayout {
  std::int32_t count = 1;
  std::int8_t dim = -1;
  bool per_microbatch = false;
  std::int8_t samples = -1;        ///< where `per_microbatch`; -1: it holds none
  OverPass over = OverPass::mean;  ///< where `per_microbatch`

  explicit operator bool() const noexcept { return dim >= 0; }
  /// The dim of one microbatch that holds its samples, or -1.
  [[nodiscard]] std::int8_t sample_dim() const noexcept { return per_microbatch ? samples : dim; }
  void fields(auto&& see) const {
    see("count", count), see("dim", dim), see("per_microbatch", per_microbatch),
        see("samples", samples);
  }
  /// True for the same borders; `samples` and `over` tell more of what lies between them.
  friend bool operator==(const MicrobatchLayout& a, const MicrobatchLayout& b) noexcept {
    return a.count == b.count && a.dim == b.dim && a.per_microbatch == b.per_microbatch;
  }
};

}  // namespace tessera
