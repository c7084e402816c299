#include <tessera/nn/init/uniform.h>

#include <algorithm>

#include <tessera/core/tensor/half_open.h>
#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {

Initializer uniform(double low, double high) {
  return [=](const Tensor& value, const Box& box, const RandomStream& stream) {
    const double last = std::max(low, largest_below(high, value.dtype()));
    fill_by_fours(value, box, stream, [&]<class Real>(const auto& words, Real* four) {
      const auto most = static_cast<Real>(last);
      const auto origin = static_cast<Real>(low);
      const auto width = static_cast<Real>(high - low);
      for (std::size_t k = 0; k < 4; ++k) {
        four[k] = std::min(origin + width * to_uniform(words[k]), most);
      }
    });
  };
}

}  // namespace tessera::nn::init
