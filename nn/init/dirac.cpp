#include <tessera/nn/init/dirac.h>

#include <algorithm>

#include <tessera/core/tensor/elements.h>
#include <tessera/nn/init/constant.h>

namespace tessera::nn::init {
namespace {

/// Where the middle of a kernel lies from its first element, in a weight.
std::int64_t middle(const Shape& shape, const Strides& strides) {
  std::int64_t offset = 0;
  for (int d = 2; d < shape.size(); ++d) {
    offset += shape[d] / 2 * strides[d];
  }
  return offset;
}

}  // namespace

Initializer dirac(std::int64_t groups) {
  return [groups](const Tensor& value, const RandomStream& stream) {
    const Shape& shape = value.shape();
    check<ValueError>(shape.size() >= 3 && shape.size() <= 5,
                      "dirac: needs 3, 4 or 5 dims; got shape ", shape);
    check<ValueError>(groups >= 1 && shape[0] % groups == 0, "dirac: ", shape[0],
                      " output channels cannot be cut into groups; got ", groups);
    zeros()(value, stream);
    const Strides strides = value.strides();
    const std::int64_t outputs = shape[0] / groups;
    const std::int64_t channels = value.numel() == 0 ? 0 : std::min(outputs, shape[1]);
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t kernel = (g * outputs + c) * strides[0] + c * strides[1];
        store_as(value.get(), kernel + middle(shape, strides), 1.0);
      }
    }
  };
}

}  // namespace tessera::nn::init
