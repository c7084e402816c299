#include <tessera/nn/init/eye.h>

#include <algorithm>

#include <tessera/core/tensor/elements.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn::init {

Initializer eye() {
  return [](const Tensor& value, const RandomStream& stream) {
    const Shape& shape = value.shape();
    check<ValueError>(shape.size() == 2, "eye: needs a matrix; got shape ", shape);
    zeros()(value, stream);
    for (std::int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) {
      store_as(value.get(), i * (value.strides()[0] + value.strides()[1]), 1.0);
    }
  };
}

}  // namespace tessera::nn::init
