#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/fill.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/trunc_normal.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/init/xavier.h>

#include "filled.h"

namespace tessera::nn {
namespace {

/// Mean of f(x) over all numbers.
double mean_of(const std::vector<float>& numbers, const std::function<double(double)>& f) {
  double sum = 0;
  for (const float number : numbers) {
    sum += f(number);
  }
  return sum / static_cast<double>(numbers.size());
}

TEST(Init, normal_has_the_moments_of_the_normal_distribution) {
  const auto numbers = filled(init::normal(0, 1), {1000, 1001});
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x; }), 0, 0.005);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x * x; }), 1, 0.01);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x * x * x; }), 0, 0.02);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x * x * x * x; }), 3, 0.05);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return std::abs(x) > 3 ? 1 : 0; }), 0.0027, 3e-4);
  double neighbours = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    neighbours += numbers[i] * numbers[i - 1];
  }
  EXPECT_NEAR(neighbours / static_cast<double>(numbers.size()), 0, 0.005);
  const auto moved = filled(init::normal(5, 0.02), {1000, 100});
  EXPECT_NEAR(mean_of(moved, [](double x) { return x; }), 5, 0.001);
  EXPECT_NEAR(mean_of(moved, [](double x) { return (x - 5) * (x - 5); }), 4e-4, 1e-5);
}

TEST(Init, uniform_fills_its_interval_evenly) {
  const auto numbers = filled(init::uniform(-2, 6), {1000, 100});
  EXPECT_GE(*std::ranges::min_element(numbers), -2);
  EXPECT_LT(*std::ranges::max_element(numbers), 6);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x; }), 2, 0.03);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x * x; }), 4 + 64 / 12.0, 0.1);
  EXPECT_NEAR(mean_of(numbers, [](double x) { return x < 0 ? 1 : 0; }), 0.25, 0.01);
}

/// The smallest and the largest of many numbers that an initializer gives in `dtype`.
std::pair<double, double> range_of(const Initializer& initializer, DType dtype) {
  const Tensor value = empty({50, 1000}, {.dtype = dtype});
  initializer(value, Box::all_of(value.shape()), {.key = 1});
  const auto numbers = value.to_vector<double>();
  const auto [least, most] = std::ranges::minmax_element(numbers);
  return {*least, *most};
}

/// Rounding to few digits must not reach the end.
TEST(Init, ranges_stay_half_open_in_every_dtype) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const auto& [low, high] : {std::pair(0.0, 1.0), {1.0, 2.0}, {-3.0, 0.0}, {-2.0, -1.0}}) {
      const auto [least, most] = range_of(init::uniform(low, high), dtype);
      EXPECT_GE(least, low) << dtype;
      EXPECT_LT(most, high) << dtype << ' ' << low;
    }
    const auto drawn = range_of(init::kaiming_uniform(), dtype);
    EXPECT_LT(drawn.second, std::sqrt(6.0 / 1000)) << dtype;
    const auto [least, most] = range_of(init::trunc_normal(0, 1, -0.3, 0.3), dtype);
    EXPECT_GE(least, -0.3) << dtype;
    EXPECT_LE(most, 0.3) << dtype;
    EXPECT_EQ(range_of(init::uniform(0.5, 0.5), dtype), (std::pair(0.5, 0.5))) << dtype;
  }
}

TEST(Init, fans_set_the_scale) {
  const auto square = [](double x) { return x * x; };
  const auto linear = filled(init::kaiming_uniform(std::sqrt(5.0)), {100, 400});
  EXPECT_NEAR(*std::ranges::max_element(linear), 1 / 20.0, 1e-4);  // 1 / sqrt(fan in)
  EXPECT_NEAR(mean_of(filled(init::kaiming_normal(), {100, 400}), square), 2 / 400.0, 2e-4);
  EXPECT_NEAR(mean_of(filled(init::kaiming_normal(), {100, 40, 10}), square), 2 / 400.0, 2e-4);
  EXPECT_NEAR(mean_of(filled(init::xavier_normal(), {100, 400}), square), 2 / 500.0, 2e-4);
  EXPECT_NEAR(mean_of(filled(init::xavier_uniform(2), {100, 400}), square), 8 / 500.0, 4e-4);
  EXPECT_THROW(filled(init::kaiming_uniform(), {10}), InvalidArgument);
}

TEST(Init, the_fan_and_the_nonlinearity_can_be_chosen) {
  using init::FanMode;
  using init::Nonlinearity;
  const auto square = [](double x) { return x * x; };
  const auto out = filled(init::kaiming_normal(0, FanMode::fan_out), {100, 400});
  EXPECT_NEAR(mean_of(out, square), 2 / 100.0, 8e-4);
  const auto tanh =
      filled(init::kaiming_normal(0, FanMode::fan_in, Nonlinearity::tanh), {100, 400});
  EXPECT_NEAR(mean_of(tanh, square), 25 / 9.0 / 400, 3e-4);
  const auto even =
      filled(init::kaiming_uniform(0, FanMode::fan_out, Nonlinearity::linear), {75, 20, 10});
  EXPECT_NEAR(*std::ranges::max_element(even), std::sqrt(3 / 750.0), 1e-4);
}

TEST(Init, gains_are_those_of_pytorch) {
  using init::calculate_gain;
  using init::Nonlinearity;
  EXPECT_EQ(calculate_gain(Nonlinearity::linear), 1);
  EXPECT_EQ(calculate_gain(Nonlinearity::sigmoid), 1);
  EXPECT_EQ(calculate_gain(Nonlinearity::tanh), 5.0 / 3);
  EXPECT_EQ(calculate_gain(Nonlinearity::relu), std::sqrt(2.0));
  EXPECT_EQ(calculate_gain(Nonlinearity::leaky_relu), std::sqrt(2 / 1.0001));
  EXPECT_EQ(calculate_gain(Nonlinearity::leaky_relu, 1), 1);
  EXPECT_EQ(calculate_gain(Nonlinearity::selu), 0.75);
}

TEST(Init, trunc_normal_inverts_the_distribution_function) {
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  const Tensor x = empty({100000}, {.dtype = DType::f64});
  const RandomStream stream{.key = 3};
  init::trunc_normal(0, 1, -40, 40)(x, Box::all_of(x.shape()), stream);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const double u =
        init::to_positive<double>(init::words_of<double>(stream, number / 4)[number % 4]);
    ASSERT_NEAR(below(x.data<double>()[i]), u, 1e-15) << i;
  }
}

/// The moments of the normal distribution cut to [low, high].
TEST(Init, trunc_normal_is_the_normal_distribution_between_its_borders) {
  const auto density = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1)); };
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  struct Case {
    double mean, deviation, low, high;
  };
  for (const Case& c : {Case{0, 1, -2, 2}, {1, 0.5, 0, 1.25}, {0, 1, 4, 5}, {0, 2, -30, -12}}) {
    const auto x = filled(init::trunc_normal(c.mean, c.deviation, c.low, c.high), {1000, 200});
    EXPECT_GE(*std::ranges::min_element(x), c.low);
    EXPECT_LE(*std::ranges::max_element(x), c.high);
    const double a = (c.low - c.mean) / c.deviation;
    const double b = (c.high - c.mean) / c.deviation;
    const double part = below(b) - below(a);
    const double shift = (density(a) - density(b)) / part;
    const double width = 1 + (a * density(a) - b * density(b)) / part - shift * shift;
    const double mean = mean_of(x, [](double v) { return v; });
    const double deviation = c.deviation * std::sqrt(width);
    EXPECT_NEAR(mean, c.mean + c.deviation * shift, 5 * deviation / std::sqrt(200000));
    const double variance = mean_of(x, [&](double v) { return (v - mean) * (v - mean); });
    EXPECT_NEAR(variance, deviation * deviation, 0.03 * deviation * deviation);
  }
  EXPECT_THROW(init::trunc_normal(0, 1, 2, 2), ValueError);
  EXPECT_THROW(init::trunc_normal(0, 0), ValueError);
}

/// Of how many numbers the digits that a float does not have are not all zero.
int long_numbers(const Initializer& initializer, const Shape& shape) {
  const Tensor value = empty(shape, {.dtype = DType::f64});
  initializer(value, Box::all_of(value.shape()), {.key = 1});
  const auto numbers = value.to_vector<double>();
  return static_cast<int>(std::ranges::count_if(
      numbers, [](double x) { return static_cast<double>(static_cast<float>(x)) != x; }));
}

TEST(Init, doubles_have_the_digits_of_a_double) {
  EXPECT_GE(long_numbers(init::normal(), {1000}), 990);
  EXPECT_GE(long_numbers(init::uniform(), {1000}), 990);
  EXPECT_GE(long_numbers(init::trunc_normal(), {1000}), 990);
  EXPECT_GE(long_numbers(init::kaiming_uniform(), {10, 100}), 990);
}

TEST(Init, constants) {
  EXPECT_EQ(filled(init::ones(), {2}), (std::vector<float>{1, 1}));
  EXPECT_EQ(filled(init::constant(-0.5), {2}), (std::vector<float>{-0.5, -0.5}));
}

/// A longer tensor begins with the same numbers, so an element depends on its index alone.
TEST(Init, elements_depend_on_their_index_alone) {
  for (const Initializer& initializer : {init::normal(), init::uniform(), init::trunc_normal()}) {
    const auto whole = filled(initializer, {200001});
    for (const std::int64_t n : {1, 2, 3, 70001}) {
      const auto part = filled(initializer, {n});
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << n;
    }
  }
}

TEST(Init, threads_and_dtypes_change_nothing_but_the_rounding) {
  const Tensor wide = empty({300000}, {.dtype = DType::f64});
  const Tensor narrow = empty({300000}, {.dtype = DType::bf16});
  const int threads = num_threads();
  set_num_threads(1);
  const auto alone = filled(init::normal(0, 1), {300000});
  set_num_threads(3);
  EXPECT_EQ(filled(init::normal(0, 1), {300000}), alone);
  set_num_threads(threads);
  init::normal(0, 1)(wide, Box::all_of(wide.shape()), {.key = 1});
  init::normal(0, 1)(narrow, Box::all_of(narrow.shape()), {.key = 1});
  for (std::size_t i = 0; i < alone.size(); ++i) {
    ASSERT_NEAR(wide.data<double>()[i], alone[i], 1e-3) << i;  // small ones lose digits
  }
  EXPECT_NEAR(narrow.to_vector<float>()[7], alone[7], 0.01 * std::abs(alone[7]));
}

}  // namespace
}  // namespace tessera::nn
