#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <tessera/core/base/error.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/init/xavier.h>

namespace tessera::nn {
namespace {

std::vector<float> filled(const Initializer& initializer, const Shape& shape,
                          std::uint64_t key = 1) {
  const Tensor value = empty(shape);
  initializer(value, {.key = key});
  return value.to_vector<float>();
}

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

TEST(Init, constants) {
  EXPECT_EQ(filled(init::ones(), {2}), (std::vector<float>{1, 1}));
  EXPECT_EQ(filled(init::constant(-0.5), {2}), (std::vector<float>{-0.5, -0.5}));
}

/// A longer tensor begins with the same numbers, so an element depends on its index alone.
TEST(Init, elements_depend_on_their_index_alone) {
  for (const Initializer& initializer : {init::normal(0, 1), init::uniform(0, 1)}) {
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
  init::normal(0, 1)(wide, {.key = 1});
  init::normal(0, 1)(narrow, {.key = 1});
  EXPECT_EQ(wide.to_vector<float>(), alone);
  EXPECT_NEAR(narrow.to_vector<float>()[7], alone[7], 0.01 * std::abs(alone[7]));
}

}  // namespace
}  // namespace tessera::nn
