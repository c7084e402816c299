// Division of rows by their root mean square.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct RMSNormOptions {
  std::optional<double>
      eps{};           ///< added to the mean; without one the epsilon of f32, or f64 for f64
  bool affine = true;  ///< with weight

  static void each(auto& o, const auto& f) { visit_fields(f, "eps", o.eps, "affine", o.affine); }
};

/// x (..., normalized_shape) / sqrt(mean(x^2) + eps), the mean over the dims of that shape
/// together, times weight (Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS
/// 2019). Weights begin as ones.
class RMSNorm : public Module {
 public:
  explicit RMSNorm(const Shape& normalized_shape, const RMSNormOptions& options = {});
  /// Normalises over the last dim, of size `width`.
  explicit RMSNorm(std::int64_t width, const RMSNormOptions& options = {})
      : RMSNorm(Shape{width}, options) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(normalized_shape_, RMSNormOptions{.eps = eps_, .affine = weight.defined()});
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< normalized_shape; undefined when not affine

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

}  // namespace tessera::nn
