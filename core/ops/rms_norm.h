// RMS norm over the last dim, and its gradient.
#pragma once

#include <tessera/core/ops/support/norm.h>

namespace tessera {

/// Inputs: x (..., n), weight (n), optional. Outputs: y (..., n), inverse (..., 1).
struct RmsNorm : RowNorm<false> {
  static constexpr OpInfo info{.name = "rms_norm",
                               .doc = "rows of x divided by their root mean square, and scaled",
                               .saved_inputs = 0b011,
                               .saved_outputs = 0b10};
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// Inputs: gradient and x (..., n), inverse (..., 1), weight (n) or none. Outputs: the
/// gradient of x and, if asked for, of weight (n): sums over rows, in order inside a
/// microbatch, microbatches along the tree.
struct RmsNormBackward : RowNormBackward<RmsNormBackward, false> {
  static constexpr OpInfo info{.name = "rms_norm_backward",
                               .doc = "the gradients of rms_norm",
                               .sums_microbatches = true,
                               .saved_inputs = 0b01111};
};

/// Every row of x (..., n) divided by sqrt(mean(x^2) + epsilon), times weight (n), which may be
/// undefined. The result has the dtype of x, or that of an AutocastScope.
[[nodiscard]] Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double epsilon = 1e-6);

}  // namespace tessera
