// How near to the reference in f64 a result must be.
#pragma once

#include <string>

#include <tessera/core/tensor/tensor.h>

#include "oracle/support/fixture.h"

namespace tessera::oracle {

/// What a case is run in. Under `bf16` parameters are f32, inputs bf16, and autocast is on.
struct Precision {
  const char* name;
  DType parameters;
  DType inputs;
};
inline constexpr Precision kF64{"f64", DType::f64, DType::f64};
inline constexpr Precision kF32{"f32", DType::f32, DType::f32};
inline constexpr Precision kBf16{"bf16", DType::f32, DType::bf16};

/// The largest difference by the largest finite number of `reference`; infinite where shapes, NaN
/// or infinities differ, or `got` is undefined.
[[nodiscard]] double error_of(const Tensor& got, const Tensor& reference);

/// One unit in the last place of the largest number of `reference`, by that number.
[[nodiscard]] double ulp_of(const Tensor& reference, DType dtype);

/// The error allowed against `reference`: 1e-10 in f64, nothing for integers, else twice PyTorch's
/// own, which is kept beside it, and one unit in the last place.
[[nodiscard]] double allowed_error(const Node& reference, const Precision& precision);

}  // namespace tessera::oracle
