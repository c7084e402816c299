#include <tessera/nn/init/trunc_normal.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {
namespace {

/// The part of the standard normal distribution above z.
double above(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

/// The z >= 0 with above(z) = p in (0, 1/2], by Newton's method on log(above): the logarithm is
/// concave and the start lies right of the root, so all steps do.
double inverse_above(double p) {
  p = std::max(p, 1e-300);
  double z = std::sqrt(std::max(0.0, -2 * std::log(2 * p)));
  for (double change = 1; std::abs(change) > 1e-7 * (1 + z);) {
    const double tail = above(z);
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    change = std::log(tail / p) * tail / density;
    z += change;
  }
  return z;
}

/// The z below which the part p in (0, 1) of the standard normal distribution lies.
double quantile(double p) {
  return p <= 0.5 ? -inverse_above(p) : inverse_above(1 - p);
}

}  // namespace

Initializer trunc_normal(double mean, double deviation, double low, double high) {
  check<ValueError>(low < high, "trunc_normal: empty range; got ", low, " to ", high);
  check<ValueError>(deviation > 0, "trunc_normal: the deviation must be positive; got ", deviation);
  // Borders in deviations; an interval right of the mean is mirrored to the left, where parts of
  // the distribution are small numbers that keep their digits.
  double from = (low - mean) / deviation;
  double to = (high - mean) / deviation;
  const double side = from > 0 ? -1 : 1;
  if (side < 0) {
    from = -std::exchange(to, -from);
  }
  const double first = above(-from);
  const double last = above(-to);
  return [=](const Tensor& value, const RandomStream& stream) {
    fill_by_fours(value, stream, [&](const PhiloxBlock& words, float* four) {
      for (std::size_t k = 0; k < 4; ++k) {
        const double u = (static_cast<double>(words[k]) + 0.5) * 0x1p-32;
        const double z = side * quantile(first + (last - first) * u);
        four[k] = static_cast<float>(std::clamp(mean + deviation * z, low, high));
      }
    });
  };
}

}  // namespace tessera::nn::init
