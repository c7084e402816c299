#include <tessera/core/ops/convolution.h>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/sum.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::Inputs;
using testing_support::numbers;

const ConvolutionOptions kSteps{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}};
const ConvolutionOptions kGroups{.padding = {1}, .groups = 2};

const RegisterOpCase<Convolution> kConvolutionCase{{
    .samples = {{.inputs = {real({4, 3, 5, 4}), real({2, 3, 3, 2}), real({2})},
                 .attrs = {.options = kSteps}},
                {.inputs = {real({2, 4, 3}), real({6, 2, 2}), absent()},
                 .attrs = {.options = kGroups}},
                {.inputs = {real({2, 1, 2, 3, 2}), real({2, 1, 2, 1, 2}), real({2})}}},
    .wrong = {{.inputs = {real({2, 3, 4, 4}), real({2, 2, 3, 3}), absent()}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3}), absent()}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 5, 5}), absent()}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3, 3}), real({3})}},
              {.inputs = {real({3, 4}), real({3, 4}), absent()}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 0, 3}), absent()}},
              {.inputs = {complex({2, 3, 4, 4}), real({2, 3, 3, 3}), absent()}},
              {.inputs = {real({2, 4, 4}), real({3, 2, 3}), absent()},
               .attrs = {.options = kGroups}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3, 3}), absent()},
               .attrs = {.options = {.stride = {0}}}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3, 3}), absent()},
               .attrs = {.options = {.stride = {1, 1, 1}}}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3, 3}), absent()},
               .attrs = {.options = {.padding = {-1}}}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3, 3}), absent()},
               .attrs = {.options = {.padding = {std::int64_t{1} << 30}}}},
              {.inputs = {real({2, 3, 4, 4}), real({2, 3, 3, 3}), absent()},
               .attrs = {.options = {.groups = 0}}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = [](Convolution::Attrs& attrs, DType dtype) { attrs.dtype = dtype; },
    .spreads_nan = true,
}};

const RegisterOpCase<ConvolutionBackwardInput> kConvolutionGradInputCase{{
    .samples = {{.inputs = {real({4, 2, 3, 6}), real({2, 3, 3, 2}), real({3})},
                 .attrs = {.options = kSteps, .size = {5, 4}}},
                {.inputs = {real({2, 6, 4}), real({6, 2, 2}), absent()},
                 .attrs = {.options = kGroups, .size = {3}}},
                {.inputs = {real({2, 2, 1, 3, 1}), real({2, 1, 2, 1, 2}), real({1})},
                 .attrs = {.size = {2, 3, 2}}}},
    .wrong = {{.inputs = {real({4, 2, 4, 6}), real({2, 3, 3, 2}), absent()},
               .attrs = {.options = kSteps, .size = {5, 4}}},
              {.inputs = {real({4, 2, 3, 6}), real({2, 3, 3, 2}), real({2})},
               .attrs = {.options = kSteps, .size = {5, 4}}},
              {.inputs = {real({4, 2, 3, 6}), real({2, 3, 3, 2}), absent()},
               .attrs = {.options = kSteps, .size = {5}}},
              {.inputs = {real({4, 2, 3, 6}), real({2, 3, 3, 2}), absent()},
               .attrs = {.options = kSteps, .size = {5, -4}}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = set_dtypes<ConvolutionBackwardInput::Attrs>,
    .spreads_nan = true,
}};

const RegisterOpCase<ConvolutionBackwardWeight> kConvolutionGradWeightCase{{
    .samples = {{.inputs = {real({4, 2, 3, 6}), real({4, 3, 5, 4})},
                 .attrs = {.options = kSteps, .size = {3, 2}}},
                {.inputs = {real({2, 6, 4}), real({2, 4, 3})},
                 .attrs = {.options = kGroups, .size = {2}}},
                {.inputs = {real({2, 2, 1, 3, 1}), real({2, 1, 2, 3, 2})},
                 .attrs = {.size = {2, 1, 2}}}},
    .wrong = {{.inputs = {real({4, 2, 3, 5}), real({4, 3, 5, 4})},
               .attrs = {.options = kSteps, .size = {3, 2}}},
              {.inputs = {real({3, 2, 3, 6}), real({4, 3, 5, 4})},
               .attrs = {.options = kSteps, .size = {3, 2}}},
              {.inputs = {real({4, 2, 3, 6}), real({4, 3, 5, 4})}, .attrs = {.options = kSteps}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = set_dtypes<ConvolutionBackwardWeight::Attrs>,
    .spreads_nan = true,
}};

TEST(Convolution, is_a_sum_over_windows) {
  const Tensor x = from_values<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3});
  const Tensor weight = from_values<float>({1, 10, 100, 1000}, {1, 1, 2, 2});
  EXPECT_EQ(convolution(x, weight, tensor({0.5F})).to_vector<float>(),
            (std::vector<float>{5421.5, 6532.5, 8754.5, 9865.5}));
  EXPECT_EQ(convolution(x, weight, {}, {.stride = {2}, .padding = {1}}).to_vector<float>(),
            (std::vector<float>{1000, 3200, 7040, 9865}));
}

TEST(Convolution, transposed_spreads_its_input) {
  const Tensor x = from_values<float>({1, 2}, {1, 1, 2});
  const Tensor weight = from_values<float>({1, 10, 100}, {1, 1, 3});
  const auto y = [&](const ConvolutionOptions& options, std::int64_t more) {
    return transposed_convolution(x, weight, {}, options, {more}).to_vector<float>();
  };
  EXPECT_EQ(y({}, 0), (std::vector<float>{1, 12, 120, 200}));
  EXPECT_EQ(y({.stride = {2}}, 1), (std::vector<float>{1, 10, 102, 20, 200, 0}));
  EXPECT_EQ(y({.padding = {1}, .dilation = {2}}, 0), (std::vector<float>{2, 10, 20, 100}));
  EXPECT_THROW(y({.stride = {2}}, 2), InvalidArgument);
  EXPECT_THROW(y({.padding = {9}}, 0), InvalidArgument);
}

TEST(Convolution, gradients_of_complex_numbers) {
  const auto as_complex = [](const Inputs& x) {
    return cast(convolution(cast(x[0], DType::c128), cast(x[1], DType::c128)), DType::f64);
  };
  expect_gradients(as_complex, {numbers({1, 2, 4}, 1), numbers({2, 2, 2}, 2)});
}

/// A loss of each microbatch alone, whatever its samples.
Tensor loss_of(const Tensor& y) {
  return sum_to(sum(y * y, {2, 3}) * numbers({y.shape()[1]}, 5, y.dtype()), {});
}

TEST(Convolution, bits_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return loss_of(convolution(convolution(x[0], p[0], p[1], {.padding = {1}}), p[2]));
      },
      {numbers({16, 3, 3, 3}, 2, DType::f32), numbers({16}, 3, DType::f32),
       numbers({32, 16, 3, 3}, 4, DType::f32)},
      {numbers({8, 3, 6, 6}, 1, DType::f32)});
}

TEST(Convolution, bits_do_not_depend_on_passes_with_shared_weights) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        const ConvolutionOptions same{.padding = {1}};
        return loss_of(convolution(convolution(x[0], p[0], {}, same), p[0], {}, same));
      },
      {numbers({16, 16, 3, 3}, 2, DType::f32)}, {numbers({8, 16, 5, 5}, 1, DType::f32)});
}

TEST(Convolution, autocast_keeps_gradients_of_parameters_in_f32) {
  const AutocastScope autocast(DType::bf16);
  const Tensor x = numbers({2, 3, 4, 4}, 1, DType::f32).set_requires_grad(true);
  const Tensor weight = numbers({4, 3, 3, 3}, 2, DType::f32).set_requires_grad(true);
  const Tensor bias = numbers({4}, 3, DType::f32).set_requires_grad(true);
  const Tensor y = convolution(x, weight, bias);
  EXPECT_EQ(y.dtype(), DType::bf16);
  sum(y).backward();
  EXPECT_EQ(weight.grad().dtype(), DType::f32);
  EXPECT_EQ(bias.grad().dtype(), DType::f32);
  EXPECT_EQ(x.grad().dtype(), DType::f32);
}

}  // namespace
}  // namespace tessera
