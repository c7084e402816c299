// Bytes as fractions.
#pragma once

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::data {

/// u8 in [0, 255] -> f32 in [0, 1], as torchvision's ToTensor; floating tensors stay as they are.
struct ToFloat {
  /// Throws TypeError for other dtypes.
  [[nodiscard]] Tensor operator()(const Tensor& x) const {
    check<TypeError>(x.dtype() == DType::u8 || is_floating(x.dtype()), "ToFloat: got ", x.dtype(),
                     ", expected u8 or a floating dtype");
    return is_floating(x.dtype()) ? x : cast(x, DType::f32) / 255;
  }
};

}  // namespace tessera::data
