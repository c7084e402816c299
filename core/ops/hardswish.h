// The sigmoid linear unit with straight pieces for a sigmoid.
#pragma once

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/hardsigmoid.h>
#include <tessera/core/ops/mul.h>

namespace tessera {

/// x hardsigmoid(x) (Howard et al., "Searching for MobileNetV3", ICCV 2019).
[[nodiscard]] inline Tensor hardswish(const Tensor& x) {
  return x * hardsigmoid(x);
}
inline const Tensor& hardswish_(const Tensor& x) {
  return x.copy_(hardswish(clone(x)));  // the gradient reads what x was
}

}  // namespace tessera
