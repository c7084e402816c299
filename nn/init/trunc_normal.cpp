#include <tessera/nn/init/trunc_normal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <tessera/core/tensor/half_open.h>
#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {
namespace {

/// The part of the standard normal distribution above z.
double above(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

/// The z below which the part p in (0, 1) of the standard normal distribution lies, to seven digits
/// (Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", 1988, PPND7).
double quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  double r = std::sqrt(-std::log(std::max(std::min(p, 1 - p), 1e-300)));
  if (r <= 5) {
    r -= 1.6;
    r = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
        ((0.12021132975 * r + 0.73700164250) * r + 1);
  } else {
    r -= 5;
    r = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) /
        ((0.012258202635 * r + 0.24197894225) * r + 1);
  }
  return std::copysign(r, q);
}

/// The quantile to the digits of a double, by two steps of Newton's method.
double exact_quantile(double p) {
  double z = quantile(p);
  for (int step = 0; step < 2; ++step) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    z -= density > 0 ? (above(-z) - p) / density : 0;
  }
  return z;
}

/// The largest number of `dtype` that is not above `end`.
double largest_up_to(double end, DType dtype) {
  return largest_below(std::nextafter(end, std::numeric_limits<double>::infinity()), dtype);
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
  return [=](const Tensor& value, const Box& box, const RandomStream& stream) {
    const double least = -largest_up_to(-low, value.dtype());
    const double most = largest_up_to(high, value.dtype());
    fill_by_fours(value, box, stream, [&]<class Real>(const auto& words, Real* four) {
      constexpr auto* kQuantile = sizeof(Real) == 8 ? exact_quantile : quantile;
      for (std::size_t k = 0; k < 4; ++k) {
        const double u = to_positive<double>(words[k]);
        const double z = side * kQuantile(first + (last - first) * u);
        four[k] = static_cast<Real>(std::clamp(mean + deviation * z, least, most));
      }
    });
  };
}

}  // namespace tessera::nn::init
