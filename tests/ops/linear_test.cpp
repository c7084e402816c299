#include <tessera/core/ops/linear.h>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Inputs;
using testing_support::numbers;

const RegisterOpCase<Linear> kLinearCase{{
    .samples = {{.inputs = {real({4, 6}), real({8, 6}), real({8})}},
                {.inputs = {real({2, 4, 3}), real({4, 3}), absent()}},
                {.inputs = {real({4}), real({2, 4}), real({2})}}},
    .wrong = {{.inputs = {real({4, 6}), real({8, 5}), absent()}},
              {.inputs = {real({4, 6}), real({6}), absent()}},
              {.inputs = {real({4, 6}), real({8, 6}), real({6})}},
              {.inputs = {complex({4, 6}), real({8, 6}), absent()}},
              {.inputs = {real({}), real({8, 6}), absent()}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = [](Linear::Attrs& attrs, DType dtype) { attrs.dtype = dtype; },
}};

const RegisterOpCase<LinearBackwardInput> kLinearGradInputCase{{
    .samples = {{.inputs = {real({4, 8}), real({8, 6})}},
                {.inputs = {real({2, 4, 2}), real({2, 4})}}},
    .wrong = {{.inputs = {real({4, 6}), real({8, 6})}}, {.inputs = {real({4, 8}), real({8})}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = set_dtypes<LinearBackwardInput::Attrs>,
}};

const RegisterOpCase<LinearBackwardWeight> kLinearGradWeightCase{{
    .samples = {{.inputs = {real({4, 8}), real({4, 6})}},
                {.inputs = {real({2, 4, 2}), real({2, 4, 4})}}},
    .wrong = {{.inputs = {real({4, 8}), real({5, 6})}},
              {.inputs = {real({4, 8}), real({2, 2, 6})}},
              {.inputs = {real({}), real({})}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = set_dtypes<LinearBackwardWeight::Attrs>,
}};

const RegisterOpCase<LinearBackwardBias> kLinearGradBiasCase{{
    .samples = {{.inputs = {real({4, 8})}}, {.inputs = {real({2, 4, 4})}}},
    .wrong = {{.inputs = {real({})}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = [](LinearBackwardBias::Attrs& attrs, DType dtype) { attrs.result = dtype; },
}};

TEST(Linear, adds_the_bias) {
  const Tensor x = from_values<float>({1, 2}, {1, 2});
  const Tensor weight = from_values<float>({3, 4, 5, 6, 7, 8}, {3, 2});
  const Tensor bias = tensor({1.F, 2.F, 3.F});
  EXPECT_EQ(linear(x, weight, bias).to_vector<float>(), (std::vector<float>{12, 19, 26}));
  EXPECT_EQ(linear(x, weight).to_vector<float>(), (std::vector<float>{11, 17, 23}));
}

TEST(Linear, gradients) {
  const Inputs inputs{numbers({2, 3, 4}, 1), numbers({5, 4}, 2), numbers({5}, 3)};
  const auto f = [](const Inputs& x) { return linear(x[0], x[1], x[2]); };
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
  expect_gradients([](const Inputs& x) { return linear(x[0], x[1]); },
                   {numbers({4}, 1), numbers({2, 4}, 2)});
}

TEST(Linear, bits_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        const Tensor h = linear(x[0], p[0], p[1]);
        return testing_support::loss_of_samples(h * h);
      },
      {numbers({3, 5}, 2, DType::f32), numbers({3}, 3, DType::f32)},
      {numbers({8, 4, 5}, 1, DType::f32)});
}

TEST(Linear, bits_do_not_depend_on_passes_with_shared_weights) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        const Tensor h = linear(linear(x[0], p[0], p[1]), p[0], p[1]);
        return testing_support::loss_of_samples(h);
      },
      {numbers({3, 3}, 2, DType::f32), numbers({3}, 3, DType::f32)},
      {numbers({8, 4, 3}, 1, DType::f32)});
}

TEST(Linear, autocast_keeps_gradients_of_parameters_in_f32) {
  const AutocastScope autocast(DType::bf16);
  const Tensor x = numbers({2, 3}, 1, DType::f32).set_requires_grad(true);
  const Tensor weight = numbers({4, 3}, 2, DType::f32).set_requires_grad(true);
  const Tensor bias = numbers({4}, 3, DType::f32).set_requires_grad(true);
  const Tensor y = linear(x, weight, bias);
  EXPECT_EQ(y.dtype(), DType::bf16);
  sum_to(y, {}).backward();
  EXPECT_EQ(weight.grad().dtype(), DType::f32);
  EXPECT_EQ(bias.grad().dtype(), DType::f32);
  EXPECT_EQ(x.grad().dtype(), DType::f32);
}

TEST(Linear, names_what_does_not_fit) {
  EXPECT_THROW(static_cast<void>(linear(zeros({2, 3}), zeros({4, 2}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(linear(zeros({2, 3}), zeros({3}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(linear(zeros({2, 3}), zeros({4, 3}), zeros({3}))),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera
