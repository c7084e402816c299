#include <tessera/nn/init/uniform.h>

#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {

Initializer uniform(double low, double high) {
  return [=](const Tensor& value, const RandomStream& stream) {
    fill_by_fours(value, stream, [&]<class Real>(const auto& words, Real* four) {
      const auto origin = static_cast<Real>(low);
      const auto width = static_cast<Real>(high - low);
      for (std::size_t k = 0; k < 4; ++k) {
        four[k] = origin + width * to_uniform(words[k]);
      }
    });
  };
}

}  // namespace tessera::nn::init
