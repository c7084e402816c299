// Normalisation of rows to mean 0 and variance 1.
#pragma once

#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct LayerNormOptions {
  double eps = 1e-5;   ///< added to the variance
  bool affine = true;  ///< with weight
  bool bias = true;    ///< with bias, if affine

  static void each(auto& o, const auto& f) {
    visit_fields(f, "eps", o.eps, "affine", o.affine, "bias", o.bias);
  }
};

/// x (..., normalized_shape), normalised over the dims of that shape together, times weight plus
/// bias (Ba et al., "Layer Normalization", 2016). Weights begin as ones, biases as zeros.
class LayerNorm : public Module {
 public:
  explicit LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options = {});
  /// Normalises over the last dim, of size `width`.
  explicit LayerNorm(std::int64_t width, const LayerNormOptions& options = {})
      : LayerNorm(Shape{width}, options) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const LayerNormOptions options{.eps = eps_, .affine = weight.defined(), .bias = bias.defined()};
    return std::tuple(normalized_shape_, options);
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< normalized_shape; undefined when not affine
  Parameter bias;    ///< normalized_shape; undefined without bias

 private:
  Shape normalized_shape_;
  double eps_;
};

}  // namespace tessera::nn
