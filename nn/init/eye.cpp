#include <tessera/nn/init/eye.h>

#include <algorithm>

#include <tessera/core/tensor/elements.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn::init {

Initializer eye() {
  return [](const Tensor& value, const Box& box, const RandomStream& stream) {
    const Shape& shape = box.whole;
    check<ValueError>(shape.size() == 2, "eye: needs a matrix; got shape ", shape);
    zeros()(value, box, stream);
    for (std::int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) {
      if (const std::int64_t at = box.find({i, i}); at >= 0) {
        store_as(value.get(), at, 1.0);
      }
    }
  };
}

}  // namespace tessera::nn::init
