#include <tessera/nn/init/normal.h>

#include <cmath>
#include <numbers>

#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {
namespace {

/// Two independent standard normal numbers.
void box_muller(std::uint32_t first, std::uint32_t second, float* pair) {
  const float u = (static_cast<float>(first) + 0.5F) * 0x1p-32F;  // in (0, 1]
  const float radius = std::sqrt(-2 * std::log(u));
  const float angle = 2 * std::numbers::pi_v<float> * to_uniform(second);
  pair[0] = radius * std::cos(angle);
  pair[1] = radius * std::sin(angle);
}

}  // namespace

Initializer normal(double mean, double deviation) {
  const auto center = static_cast<float>(mean);
  const auto scale = static_cast<float>(deviation);
  return [center, scale](const Tensor& value, const RandomStream& stream) {
    fill_by_fours(value, stream, [&](const PhiloxBlock& words, float* four) {
      box_muller(words[0], words[1], four);
      box_muller(words[2], words[3], four + 2);
      for (int k = 0; k < 4; ++k) {
        four[k] = center + scale * four[k];
      }
    });
  };
}

}  // namespace tessera::nn::init
