#include <tessera/core/ops/max_pool.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <tessera/core/ops/sum.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::Inputs;
using testing_support::numbers;

const PoolOptions kOptions{
    .kernel = {2, 3}, .stride = {1, 2}, .padding = {1}, .dilation = {2, 1}, .ceil_mode = true};

/// The indices of a pool of images (channels, height, width), as many as input 0 has samples.
InputSpec places_of(const PoolOptions& options, const Shape& image) {
  InputSpec indices = derived([options, image](const std::vector<Tensor>& inputs) {
    Shape shape = image;
    shape.insert(0, inputs[0].shape()[0]);
    return max_pool_with_indices(numbers(shape, 3), options).indices;
  });
  indices.sweeps = false;
  return indices;
}

const RegisterOpCase<MaxPool> kMaxPoolCase{{
    .samples = {{.inputs = {distinct({4, 2, 4, 6})}, .attrs = {.kernel = {2}}},
                {.inputs = {distinct({2, 1, 4, 6})}, .attrs = kOptions},
                {.inputs = {distinct({2, 2, 7})}, .attrs = {.kernel = {3}, .padding = {1}}},
                {.inputs = {distinct({1, 1, 3, 4, 2})},
                 .attrs = {.kernel = {2}, .stride = {1}, .ceil_mode = true}},
                {.inputs = {distinct({1, 3, 4})}, .attrs = {.kernel = {2}}}},
    .wrong = {{.inputs = {real({4, 6})}, .attrs = {.kernel = {2}}},
              {.inputs = {complex({1, 1, 4})}, .attrs = {.kernel = {2}}},
              {.inputs = {booleans({1, 1, 4})}, .attrs = {.kernel = {2}}},
              {.inputs = {real({1, 1, 4})}, .attrs = {.kernel = {5}}},
              {.inputs = {real({1, 1, 4})}, .attrs = {.kernel = {2}, .padding = {2}}},
              {.inputs = {real({1, 1, 4})}, .attrs = {.kernel = {2, 2}}},
              {.inputs = {real({1, 1, 4})}, .attrs = {.kernel = {2}, .stride = {0}}},
              {.inputs = {real({1, 1, 0})}, .attrs = {.kernel = {1}}}},
    .dtypes = kNumberDTypes,
}};

const RegisterOpCase<MaxPoolBackward> kMaxPoolGradientCase{{
    .samples = {{.inputs = {real({4, 2, 2, 3}), places_of({.kernel = {2}}, {2, 4, 6})},
                 .attrs = {.size = {4, 6}}},
                {.inputs = {real({2, 1, 4, 4}), places_of(kOptions, {1, 4, 6})},
                 .attrs = {.size = {4, 6}}},
                {.inputs = {real({1, 3, 2}), places_of({.kernel = {2}}, {3, 4})},
                 .attrs = {.size = {4}}}},
    .wrong = {{.inputs = {real({1, 1, 2}), integers({1, 1, 3}, 0, 2)}, .attrs = {.size = {4}}},
              {.inputs = {real({1, 1, 2}), real({1, 1, 2})}, .attrs = {.size = {4}}},
              {.inputs = {real({1, 1, 2}), integers({1, 1, 2}, 0, 2)}, .attrs = {.size = {4, 1}}},
              {.inputs = {real({1, 1, 2}), integers({1, 1, 2}, 7, 9)}, .attrs = {.size = {4}}}},
}};

TEST(MaxPool, says_where_the_largest_elements_are) {
  const Tensor x = from_values<float>({1, 5, 2, 5, 3, 0}, {1, 1, 2, 3});
  const MaxPooled pooled = max_pool_with_indices(x, {.kernel = {2}, .stride = {1}});
  EXPECT_EQ(pooled.values.to_vector<float>(), (std::vector<float>{5, 5}));
  EXPECT_EQ(pooled.indices.to_vector<int>(), (std::vector<int>{1, 1}));
}

TEST(MaxPool, keeps_what_is_no_number_and_what_is_no_larger_than_anything) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinitelySmall = -std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x =
        cast(from_values<float>({1, kNan, 3, kInfinitelySmall, kInfinitelySmall, kInfinitelySmall},
                                {1, 1, 6}),
             dtype);
    const MaxPooled pooled = max_pool_with_indices(x, {.kernel = {3}});
    EXPECT_TRUE(std::isnan(pooled.values.to_vector<float>()[0]));
    EXPECT_EQ(pooled.values.to_vector<float>()[1], kInfinitelySmall);
    EXPECT_EQ(pooled.indices.to_vector<int>(), (std::vector<int>{1, 3}));
  }
}

TEST(MaxPool, a_last_window_begins_inside_in_ceil_mode) {
  const auto sizes = [](std::int64_t in, std::int64_t kernel, std::int64_t stride,
                        std::int64_t padding) {
    const PoolOptions options{
        .kernel = {kernel}, .stride = {stride}, .padding = {padding}, .ceil_mode = true};
    return max_pool(numbers({1, 1, in}, 1), options).shape()[2];
  };
  EXPECT_EQ(sizes(5, 2, 2, 0), 3);
  EXPECT_EQ(sizes(5, 2, 2, 1), 3);  // a fourth would begin in the padding
  EXPECT_EQ(sizes(6, 3, 2, 0), 3);
}

TEST(MaxPool, bits_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return testing_support::loss_of_samples(
            max_pool(x[0] * p[0], {.kernel = {2}, .stride = {1}}));
      },
      {numbers({3, 4}, 2, DType::f32)}, {numbers({8, 2, 3, 4}, 1, DType::f32)});
}

}  // namespace
}  // namespace tessera
