// What optimizers that update whole parameters share.
#pragma once

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/support/arithmetic.h>

namespace tessera::optim {

/// `x` in the dtype in which updates are computed: f64 stays, all others become f32.
[[nodiscard]] inline Tensor widened(const Tensor& x) {
  return cast(x, x.dtype() == DType::f64 ? DType::f64 : DType::f32);
}

/// Writes `value`, rounded, where `into` lies.
inline void put(const Tensor& into, const Tensor& value) {
  static_cast<void>(call_into<Cast>(into, {value}, {into.dtype()}));
}

/// Moves `mean` by the part `weight` of the way to `x`; gives what it became.
[[nodiscard]] inline Tensor move_mean(const Tensor& mean, const Tensor& x, double weight) {
  put(mean, widened(mean) * (1 - weight) + x * weight);
  return widened(mean);
}

}  // namespace tessera::optim
