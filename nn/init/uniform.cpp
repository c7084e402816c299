#include <tessera/nn/init/uniform.h>

#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {

Initializer uniform(double low, double high) {
  const auto origin = static_cast<float>(low);
  const auto width = static_cast<float>(high - low);
  return [origin, width](const Tensor& value, const RandomStream& stream) {
    fill_by_fours(value, stream, [&](const PhiloxBlock& words, float* four) {
      for (std::size_t k = 0; k < 4; ++k) {
        four[k] = origin + width * to_uniform(words[k]);
      }
    });
  };
}

}  // namespace tessera::nn::init
