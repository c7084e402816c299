// Normalisation of rows to mean 0 and variance 1.
#pragma once

#include <tessera/nn/module.h>

namespace tessera::nn {

struct LayerNormOptions {
  double eps = 1e-5;   ///< added to the variance
  bool affine = true;  ///< with weight
  bool bias = true;    ///< with bias, if affine
};

/// x (..., width), normalised over its last dim, times weight plus bias (Ba et al., "Layer
/// Normalization", 2016). Weights begin as ones, biases as zeros.
class LayerNorm : public Module {
 public:
  explicit LayerNorm(std::int64_t width, const LayerNormOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (width); undefined when not affine
  Parameter bias;    ///< (width); undefined without bias

 private:
  std::int64_t width_;
  double eps_;
};

}  // namespace tessera::nn
