#include <tessera/nn/init/kaiming.h>

#include <cmath>

#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/uniform.h>

namespace tessera::nn::init {
namespace {

double deviation(const Shape& shape, double gain, FanMode mode) {
  return gain / std::sqrt(static_cast<double>(fan_of(shape, mode)));
}

}  // namespace

Initializer kaiming_uniform(double slope, FanMode mode, Nonlinearity nonlinearity) {
  const double gain = calculate_gain(nonlinearity, slope);
  return [gain, mode](const Tensor& value, const Box& box, const RandomStream& stream) {
    const double bound = std::sqrt(3.0) * deviation(box.whole, gain, mode);
    uniform(-bound, bound)(value, box, stream);
  };
}

Initializer kaiming_normal(double slope, FanMode mode, Nonlinearity nonlinearity) {
  const double gain = calculate_gain(nonlinearity, slope);
  return [gain, mode](const Tensor& value, const Box& box, const RandomStream& stream) {
    normal(0, deviation(box.whole, gain, mode))(value, box, stream);
  };
}

}  // namespace tessera::nn::init
