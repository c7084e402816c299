#include <tessera/core/ops/resample.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/avg_pool.h>
#include <tessera/core/ops/upsample.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::Inputs;
using testing_support::numbers;
using Kind = Resampling::Kind;
using Doubles = std::vector<double>;

const Resampling kAverage{.in = {4, 5},
                          .out = {3, 3},
                          .kernel = {2, 3},
                          .stride = {2, 2},
                          .padding = {1, 1},
                          .counts_padding = false};
const Resampling kDivided{
    .in = {6}, .out = {3}, .kernel = {3}, .stride = {2}, .padding = {1}, .divisor = 2};
const Resampling kAdaptive{.kind = Kind::adaptive, .in = {2, 5, 3}, .out = {1, 3, 2}};
const Resampling kNearest{.kind = Kind::nearest, .in = {3, 4}, .out = {7, 3}};
const Resampling kLinear{.kind = Kind::linear, .in = {3, 4}, .out = {5, 3}};
const Resampling kCubic{.kind = Kind::cubic, .in = {3, 4}, .out = {5, 6}, .align_corners = true};

const RegisterOpCase<Resample> kResampleCase{{
    .samples = {{.inputs = {real({4, 2, 4, 5})}, .attrs = kAverage},
                {.inputs = {real({2, 1, 6})}, .attrs = kDivided},
                {.inputs = {real({1, 2, 2, 5, 3})}, .attrs = kAdaptive},
                {.inputs = {real({2, 2, 3, 4})}, .attrs = kNearest},
                {.inputs = {real({2, 2, 3, 4})}, .attrs = kLinear},
                {.inputs = {real({2, 2, 3, 4})}, .attrs = kCubic},
                {.inputs = {real({1, 3, 6})}, .attrs = kDivided}},
    .wrong = {{.inputs = {real({4, 2, 5, 5})}, .attrs = kAverage},
              {.inputs = {complex({1, 1, 6})}, .attrs = kDivided},
              {.inputs = {real({6})}, .attrs = kDivided},
              {.inputs = {real({1, 1, 6})}},
              {.inputs = {real({1, 1, 3})},
               .attrs = {.in = {3}, .out = {9}, .kernel = {1}, .stride = {1}, .padding = {0}}},
              {.inputs = {real({1, 1, 3})},
               .attrs = {.in = {3}, .out = {2}, .kernel = {2}, .stride = {1}, .padding = {2}}},
              {.inputs = {real({1, 1, 3})},
               .attrs = {.kind = Kind::linear, .in = {3}, .out = {0}}}},
    .tolerance = {.of_largest = 2},
}};

const RegisterOpCase<ResampleBackward> kResampleGradientCase{{
    .samples = {{.inputs = {real({4, 2, 3, 3})}, .attrs = kAverage},
                {.inputs = {real({2, 1, 3})}, .attrs = kDivided},
                {.inputs = {real({1, 2, 1, 3, 2})}, .attrs = kAdaptive},
                {.inputs = {real({2, 2, 7, 3})}, .attrs = kNearest},
                {.inputs = {real({2, 2, 5, 3})}, .attrs = kLinear},
                {.inputs = {real({2, 2, 5, 6})}, .attrs = kCubic},
                {.inputs = {real({1, 3, 3})}, .attrs = kDivided}},
    .wrong = {{.inputs = {real({4, 2, 4, 5})}, .attrs = kAverage},
              {.inputs = {integers({2, 1, 3}, 0, 3)}, .attrs = kDivided}},
    .tolerance = {.of_largest = 2},
}};

Tensor line(const Doubles& values) {
  return from_values(std::span<const double>(values),
                     {1, 1, static_cast<std::int64_t>(values.size())});
}

TEST(AvgPool, counts_padding_unless_told_otherwise) {
  const auto pooled = [](AvgPooling options) {
    options.kernel = {3}, options.stride = {2}, options.padding = {1};
    return avg_pool(line({3, 6, 9, 12}), options).to_vector<double>();
  };
  EXPECT_EQ(pooled({}), (Doubles{3, 9}));
  EXPECT_EQ(pooled({.counts_padding = false}), (Doubles{4.5, 9}));
  EXPECT_EQ(pooled({.divisor = 9}), (Doubles{1, 3}));
  // The last window ends with the padding, which counts, and not behind it.
  EXPECT_EQ(pooled({.ceil_mode = true}), (Doubles{3, 9, 6}));
}

TEST(AvgPool, adapts_windows_to_the_size) {
  EXPECT_EQ(adaptive_avg_pool(line({1, 2, 3, 4, 5}), {3}).to_vector<double>(),
            (Doubles{1.5, 3, 4.5}));
  EXPECT_EQ(adaptive_avg_pool(line({1, 2}), {4}).to_vector<double>(), (Doubles{1, 1, 2, 2}));
}

TEST(Upsample, interpolates) {
  const auto up = [](const Upsampling& options) {
    return upsample(line({0, 4}), options).to_vector<double>();
  };
  EXPECT_EQ(up({.scale = {2}}), (Doubles{0, 0, 4, 4}));
  EXPECT_EQ(up({.size = {5}, .mode = Interpolation::nearest_exact}), (Doubles{0, 0, 4, 4, 4}));
  EXPECT_EQ(up({.size = {4}, .mode = Interpolation::linear}), (Doubles{0, 1, 3, 4}));
  EXPECT_EQ(up({.size = {5}, .mode = Interpolation::linear, .align_corners = true}),
            (Doubles{0, 1, 2, 3, 4}));
  EXPECT_EQ(up({.scale = {1.6}, .mode = Interpolation::linear}), (Doubles{0, 1.75, 4}));
}

TEST(Upsample, refuses_options_that_do_not_fit) {
  const Tensor x = numbers({1, 1, 3, 3}, 1);
  for (const Upsampling& options : std::vector<Upsampling>{{},
                                                           {.size = {3}, .scale = {2}},
                                                           {.size = {3, 3, 3}},
                                                           {.scale = {0.1}},
                                                           {.scale = {1e30}},
                                                           {.size = {4}, .align_corners = true},
                                                           {.size = {0}}}) {
    EXPECT_THROW(static_cast<void>(upsample(x, options)), InvalidArgument);
  }
  EXPECT_THROW(static_cast<void>(
                   upsample(numbers({1, 1, 3}, 1), {.size = {4}, .mode = Interpolation::cubic})),
               InvalidArgument);
}

TEST(AvgPool, bits_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return testing_support::loss_of_samples(
            avg_pool(x[0] * p[0], {.kernel = {2}, .stride = {1}}));
      },
      {numbers({3, 4}, 2, DType::f32)}, {numbers({8, 2, 3, 4}, 1, DType::f32)});
}

}  // namespace
}  // namespace tessera
