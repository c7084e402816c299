// The logarithm of the logistic function.
#pragma once

#include <limits>

#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/softplus.h>

namespace tessera {

/// ln(1 / (1 + e^-x)), without overflow; integers become f32. No complex numbers.
[[nodiscard]] inline Tensor log_sigmoid(const Tensor& x) {
  return -softplus(x * -1.0, 1, std::numeric_limits<double>::infinity());
}

}  // namespace tessera
