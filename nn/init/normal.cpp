#include <tessera/nn/init/normal.h>

#include <cmath>
#include <numbers>

#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {
namespace {

/// Two independent standard normal numbers.
template <class Word, class Real>
void box_muller(Word first, Word second, Real* pair) {
  const Real radius = std::sqrt(-2 * std::log(to_positive<Real>(first)));
  const Real angle = 2 * std::numbers::pi_v<Real> * to_uniform(second);
  pair[0] = radius * std::cos(angle);
  pair[1] = radius * std::sin(angle);
}

}  // namespace

Initializer normal(double mean, double deviation) {
  return [=](const Tensor& value, const Box& box, const RandomStream& stream) {
    fill_by_fours(value, box, stream, [&]<class Real>(const auto& words, Real* four) {
      const auto center = static_cast<Real>(mean);
      const auto scale = static_cast<Real>(deviation);
      box_muller(words[0], words[1], four);
      box_muller(words[2], words[3], four + 2);
      for (int k = 0; k < 4; ++k) {
        four[k] = center + scale * four[k];
      }
    });
  };
}

}  // namespace tessera::nn::init
