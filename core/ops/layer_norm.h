// Layer norm over the last dim, and its gradient.
#pragma once

#include <tessera/core/ops/support/norm.h>

namespace tessera {

/// Inputs: x (..., n), weight (n), bias (n), optional. Outputs: y (..., n), inverse (..., 1), mean
/// (..., 1).
struct LayerNorm : RowNorm<true> {
  static constexpr OpInfo info{
      .name = "layer_norm",
      .doc = "rows of x brought to mean 0 and variance 1, scaled and shifted",
      .saved_inputs = 0b011,
      .saved_outputs = 0b110};
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// Inputs: gradient and x (..., n), inverse (..., 1), weight (n) or none, mean (..., 1). Outputs:
/// the gradient of x and, if asked for, of weight and bias (n): sums over rows, in order inside a
/// microbatch, microbatches along the tree.
struct LayerNormBackward : RowNormBackward<LayerNormBackward, true> {
  static constexpr OpInfo info{.name = "layer_norm_backward",
                               .doc = "the gradients of layer_norm",
                               .sums_microbatches = true,
                               .saved_inputs = 0b11111};
};

/// Every row of x (..., n) brought to mean 0 and variance 1, times weight (n), plus bias (n); both
/// may be undefined, or the bias alone. The result has the dtype of x, or that of an AutocastScope.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                                double epsilon = 1e-5);

}  // namespace tessera
