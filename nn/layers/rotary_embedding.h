// Positions as rotations.
#pragma once

#include <tuple>
#include <utility>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct RotaryOptions {
  double base = 10000;  ///< pair i of a row of `dim` numbers turns by base^(-2 i / dim) a position
  std::int64_t max_positions = 2048;  ///< for which angles are kept
  /// Pairs are (0, 1), (2, 3), ..., as in the paper. Without it number i goes with number
  /// i + dim / 2, as in Hugging Face's Llama.
  bool pairs = false;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "base", o.base, "max_positions", o.max_positions, "pairs", o.pairs);
  }
};

/// Rotates rows, so that products of two rows depend on the distance of their positions alone (Su
/// et al., "RoFormer", 2021, arXiv 2104.09864, section 3.2.2). Angles are f64; the rotation is
/// computed in f32, or f64 for f64, and rounded to the dtype of x once.
class RotaryEmbedding : public Module {
 public:
  /// Throws ValueError for a `dim` that is not even and positive, and for other numbers that cannot
  /// be meant.
  explicit RotaryEmbedding(std::int64_t dim, const RotaryOptions& options = {});
  /// x (..., T, dim) -> the same shape: row t stands at position first + t. Throws InvalidArgument
  /// for another width and for positions outside [0, max_positions).
  [[nodiscard]] Tensor forward(const Tensor& x, std::int64_t first = 0) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(dim_, options_); }
  [[nodiscard]] std::string extra_repr() const override;

 private:
  std::int64_t dim_;
  RotaryOptions options_;
  Tensor cos_, sin_;  ///< (max_positions, dim / 2), f64: no buffers, for casts would round them
};

/// The rotation itself: x (..., T, dim) by angles whose cosines and sines, (T, dim / 2) or what
/// broadcasts to (..., T, dim / 2), are given.
[[nodiscard]] Tensor rotate_positions(const Tensor& x, const Tensor& cos, const Tensor& sin,
                                      bool pairs = false);

/// Cosines and sines of positions 0 to `count` - 1, (count, dim / 2) each, f64.
[[nodiscard]] std::pair<Tensor, Tensor> rotary_angles(std::int64_t count, std::int64_t dim,
                                                      double base = 10000);

}  // namespace tessera::nn
