#include <tessera/nn/init/fan.h>

namespace tessera::nn::init {

Fan fan_of(const Shape& shape) {
  check<ValueError>(shape.size() >= 2, "init: a fan needs at least two dims; got shape ", shape);
  std::int64_t kernel = 1;
  for (int d = 2; d < shape.size(); ++d) {
    kernel *= shape[d];
  }
  return {.in = shape[1] * kernel, .out = shape[0] * kernel};
}

std::int64_t fan_of(const Shape& shape, FanMode mode) {
  const Fan fan = fan_of(shape);
  return mode == FanMode::fan_in ? fan.in : fan.out;
}

}  // namespace tessera::nn::init
