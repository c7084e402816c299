#include <tessera/nn/data/transforms/to_float.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/div.h>

namespace tessera::data {

Tensor ToFloat::operator()(const Tensor& x) const {
  check<TypeError>(x.dtype() == DType::u8 || is_floating(x.dtype()), "ToFloat: got ", x.dtype(),
                   ", expected u8 or a floating dtype");
  return is_floating(x.dtype()) ? x : cast(x, DType::f32) / 255;
}

}  // namespace tessera::data
