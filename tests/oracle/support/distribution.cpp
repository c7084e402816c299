#include "oracle/support/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tessera::oracle {
namespace {

/// What chance exceeds in one of 10^9 comparisons, in standard deviations.
constexpr double kSigmas = 6.1;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return sum / static_cast<double>(values.size());
}

/// `less` puts the extreme first. Neither sample lies beyond the other by more than chance: each of
/// a sample's m most extreme is beyond all of the other's with probability 2^-m.
void expect_same_extreme(const std::vector<double>& values, const std::vector<double>& extremes,
                         const std::function<bool(double, double)>& before, const char* what) {
  const auto beyond =
      std::ranges::count_if(values, [&](double value) { return before(value, extremes.front()); });
  EXPECT_LT(beyond, std::ssize(extremes)) << what;
  const double own = *std::ranges::min_element(values, before);
  EXPECT_FALSE(before(extremes.back(), own)) << what << ": got " << own << ", PyTorch's "
                                             << extremes.size() << "th is " << extremes.back();
}

}  // namespace

void expect_same_distribution(const Tensor& got, const Node& begun) {
  const auto values = got.to_vector<double>();
  const double mean = begun.attributes.number("mean");
  const double deviation = begun.attributes.number("deviation");
  if (deviation == 0) {
    EXPECT_TRUE(std::ranges::all_of(values, [&](double value) { return value == mean; }));
    return;
  }
  const auto n = static_cast<double>(values.size());
  const double variance = deviation * deviation;
  const double own_mean = mean_of(values);
  EXPECT_NEAR(own_mean, mean, kSigmas * deviation * std::sqrt(2 / n));
  const double spread = std::sqrt(2 * (begun.attributes.number("kurtosis") - 1) / n);
  EXPECT_NEAR(variance_of(values, own_mean), variance, kSigmas * variance * spread);
  expect_same_extreme(values, begun["lowest"].values.to_vector<double>(), std::less<>(), "lowest");
  expect_same_extreme(values, begun["highest"].values.to_vector<double>(), std::greater<>(),
                      "highest");
}

}  // namespace tessera::oracle
