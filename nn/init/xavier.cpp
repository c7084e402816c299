#include <tessera/nn/init/xavier.h>

#include <cmath>

#include <tessera/nn/init/fan.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/uniform.h>

namespace tessera::nn::init {
namespace {

double fan_sum(const Shape& shape) {
  const Fan fan = fan_of(shape);
  return static_cast<double>(fan.in + fan.out);
}

}  // namespace

Initializer xavier_uniform(double gain) {
  return [gain](const Tensor& value, const Box& box, const RandomStream& stream) {
    const double bound = gain * std::sqrt(6 / fan_sum(box.whole));
    uniform(-bound, bound)(value, box, stream);
  };
}

Initializer xavier_normal(double gain) {
  return [gain](const Tensor& value, const Box& box, const RandomStream& stream) {
    normal(0, gain * std::sqrt(2 / fan_sum(box.whole)))(value, box, stream);
  };
}

}  // namespace tessera::nn::init
