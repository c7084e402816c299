// The hyperbolic tangent in three straight pieces.
#pragma once

#include <tessera/core/ops/clamp.h>

namespace tessera {

/// min(max(x, min_val), max_val), in the dtype of x; nan stays nan. The gradient at both ends is 0.
[[nodiscard]] inline Tensor hardtanh(const Tensor& x, double min_val = -1, double max_val = 1) {
  return clamp(x, min_val, max_val);
}
inline const Tensor& hardtanh_(const Tensor& x, double min_val = -1, double max_val = 1) {
  return clamp_(x, min_val, max_val);
}

/// min(max(x, 0), 6).
[[nodiscard]] inline Tensor relu6(const Tensor& x) {
  return hardtanh(x, 0, 6);
}
inline const Tensor& relu6_(const Tensor& x) {
  return hardtanh_(x, 0, 6);
}

}  // namespace tessera
