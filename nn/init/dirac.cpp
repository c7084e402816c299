#include <tessera/nn/init/dirac.h>

#include <algorithm>

#include <tessera/core/tensor/elements.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn::init {
namespace {

/// Index of the middle of the kernel from channel `in` to channel `out`.
Dims middle(const Shape& shape, std::int64_t out, std::int64_t in) {
  Dims index{out, in};
  for (int d = 2; d < shape.size(); ++d) {
    index.push_back(shape[d] / 2);
  }
  return index;
}

}  // namespace

Initializer dirac(std::int64_t groups) {
  return [groups](const Tensor& value, const Box& box, const RandomStream& stream) {
    const Shape& shape = box.whole;
    check<ValueError>(shape.size() >= 3 && shape.size() <= 5,
                      "dirac: needs 3, 4 or 5 dims; got shape ", shape);
    check<ValueError>(groups >= 1 && shape[0] % groups == 0, "dirac: ", shape[0],
                      " output channels cannot be cut into groups; got ", groups);
    zeros()(value, box, stream);
    const std::int64_t outputs = shape[0] / groups;
    const std::int64_t channels = numel_of(shape) == 0 ? 0 : std::min(outputs, shape[1]);
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t at = box.find(middle(shape, g * outputs + c, c));
        if (at >= 0) {
          store_as(value.get(), at, 1.0);
        }
      }
    }
  };
}

}  // namespace tessera::nn::init
