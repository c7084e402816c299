// Rows P-12 and X24: PReLU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/prelu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/nn/layers/activation/prelu.h>

#include "activations.h"
#include "ops/gradients.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using ::testing::HasSubstr;
using testing_support::error_of;

TEST(P_12, prelu_has_one_slope_for_all_or_one_a_channel) {
  const auto one = make<PReLU>();
  EXPECT_EQ(doubles(one(tensor<float>({-4, 0, 2}))), (Doubles{-1, 0, 2}));
  EXPECT_EQ(doubles(one(scalar(-4))), (Doubles{-1}));
  const auto two = make<PReLU>(2, 0.5);
  two->load_state_dict({{"weight", tensor<float>({0.5, -1})}});
  EXPECT_EQ(doubles(two(full({1, 2, 2}, -2))), (Doubles{-1, -1, 2, 2}));
  EXPECT_EQ(doubles(two(full({2, 2}, -2))), (Doubles{-1, 2, -1, 2}));
}

TEST(X24, prelu_at_0_has_the_gradient_of_the_left_side) {
  const Tensor x = values_of({-2, 0, 3}).set_requires_grad(true);
  const Tensor weight = values_of({0.25}).set_requires_grad(true);
  sum(prelu(x, weight)).backward();
  EXPECT_EQ(doubles(x.grad()), (Doubles{0.25, 0.25, 1}));
  EXPECT_EQ(doubles(weight.grad()), (Doubles{-2}));
}

TEST(P_12, the_slopes_gradient_is_summed_over_all_dims_but_the_channels) {
  const Tensor x = values_of({-1, 2, -3, -4, 5, -6, 7, -8});
  const Tensor weight = values_of({0.5, 2}).set_requires_grad(true);
  sum(prelu(reshape(x, {2, 2, 2}), weight)).backward();
  EXPECT_EQ(doubles(weight.grad()), (Doubles{-1 - 6, -3 - 4 - 8}));
}

TEST(P_12, an_empty_batch_gives_the_slopes_a_gradient_of_0) {
  const Tensor weight = values_of({0.5, 2}).set_requires_grad(true);
  sum(prelu(zeros({0, 2, 3}, {.dtype = DType::f64}), weight)).backward();
  EXPECT_EQ(doubles(weight.grad()), (Doubles{0, 0}));
}

TEST(P_12, special_slopes) {
  const Tensor x = values_of({-2, 3});
  EXPECT_EQ(doubles(prelu(x, values_of({0}))), (Doubles{0, 3}));
  EXPECT_EQ(doubles(prelu(x, values_of({1}))), doubles(x));
  EXPECT_EQ(doubles(prelu(x, values_of({-1}))), (Doubles{2, 3}));
}

TEST(P_12, prelu_refuses_what_does_not_fit) {
  EXPECT_THROW(make<PReLU>(0), ValueError);
  EXPECT_THROW(make<PReLU>(-1), ValueError);
  const auto three = make<PReLU>(3);
  const std::string text = error_of<ValueError>([&] { three(ones({2, 4})); });
  EXPECT_THAT(text, HasSubstr("got 3 numbers, expected 1 or 4"));
  EXPECT_THROW(three(ones({3})), ValueError);
  EXPECT_THROW(three(scalar(1)), ValueError);
  EXPECT_THROW(static_cast<void>(prelu(ones({2, 4}), ones({1, 4}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(prelu(values_of({1}), ones({1}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(prelu(scalar(std::complex<double>(1, 1)), ones({1}))), TypeError);
}

TEST(P_12, prelu_of_complex_slopes_is_refused_when_it_is_called) {
  const auto layer = make<PReLU>();
  layer->to(DType::c64);
  EXPECT_THROW(layer(ones({2}, {.dtype = DType::c64})), TypeError);
}

TEST(P_12, prelu_casts_its_slopes_in_a_mixed_precision_scope) {
  const auto layer = make<PReLU>();
  const AutocastScope scope(DType::bf16);
  const Tensor y = layer(cast(tensor<float>({-4, 2}), DType::bf16));
  EXPECT_EQ(y.dtype(), DType::bf16);
  EXPECT_EQ(doubles(y), (Doubles{-1, 2}));
  sum(y).backward();
  EXPECT_EQ(doubles(layer->weight.grad()), (Doubles{-4}));
}

TEST(P_12, reset_parameters_fills_the_slopes_again) {
  const auto layer = make<PReLU>(3, 0.1);
  layer->load_state_dict({{"weight", tensor<float>({1, 2, 3})}});
  layer->reset_parameters();
  EXPECT_EQ(layer->weight.value().to_vector<float>(), std::vector<float>(3, 0.1F));
  EXPECT_TRUE(layer->weight.value().is_leaf());
}

TEST(P_12, the_slopes_gradient_has_the_same_bits_for_all_passes) {
  for (const std::int64_t count : {1, 3}) {
    tessera::testing_support::expect_same_bits_for_all_passes(
        [](const auto& p, const auto& x) {
          return tessera::testing_support::loss_of_samples(prelu(x[0], p[0]));
        },
        {tessera::testing_support::numbers({count}, 1, DType::f32)},
        {tessera::testing_support::numbers({8, 3, 5}, 2, DType::f32)});
  }
}

}  // namespace
}  // namespace tessera::nn::contract
