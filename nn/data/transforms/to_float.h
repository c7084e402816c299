// Bytes as fractions.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera::data {

/// u8 in [0, 255] -> f32 in [0, 1], as torchvision's ToTensor; floating tensors stay as they are.
struct ToFloat {
  /// Throws TypeError for other dtypes.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;
};

}  // namespace tessera::data
