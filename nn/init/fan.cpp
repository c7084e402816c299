#include <tessera/nn/init/fan.h>

namespace tessera::nn::init {

Fan fan_of(const Shape& shape) {
  check(shape.size() >= 2, "init: fan needs at least two dims; got shape ", shape);
  std::int64_t kernel = 1;
  for (int d = 2; d < shape.size(); ++d) {
    kernel *= shape[d];
  }
  return {.in = shape[1] * kernel, .out = shape[0] * kernel};
}

}  // namespace tessera::nn::init
