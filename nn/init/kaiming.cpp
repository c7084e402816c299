#include <tessera/nn/init/kaiming.h>

#include <cmath>

#include <tessera/nn/init/fan.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/uniform.h>

namespace tessera::nn::init {

Initializer kaiming_uniform(double slope) {
  return [slope](const Tensor& value, const RandomStream& stream) {
    const auto fan = static_cast<double>(fan_of(value.shape()).in);
    const double bound = std::sqrt(6 / ((1 + slope * slope) * fan));
    uniform(-bound, bound)(value, stream);
  };
}

Initializer kaiming_normal(double slope) {
  return [slope](const Tensor& value, const RandomStream& stream) {
    const auto fan = static_cast<double>(fan_of(value.shape()).in);
    normal(0, std::sqrt(2 / ((1 + slope * slope) * fan)))(value, stream);
  };
}

}  // namespace tessera::nn::init
