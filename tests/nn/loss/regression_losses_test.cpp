// mse_loss, l1_loss, huber_loss and smooth_l1_loss.
#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/l1_loss.h>
#include <tessera/nn/loss/mse_loss.h>
#include <tessera/nn/loss/smooth_l1_loss.h>

#include "losses.h"
#include "ops/gradients.h"

namespace tessera::nn {
namespace {

TEST(MseLoss, squares_errors) {
  expect_numbers(mse_loss(x23(), y23(), Reduction::none), {0.0625, 4, 9, 0, 4, 4});
  EXPECT_DOUBLE_EQ(mse_loss(x23(), y23(), Reduction::sum).item(), 21.0625);
  EXPECT_DOUBLE_EQ(mse_loss(x23(), y23()).item(), 21.0625 / 6);
  testing_support::expect_gradients([](const auto& in) { return mse_loss(in[0], in[1]); },
                                    {x23(), y23()});
}

TEST(L1Loss, has_no_slope_where_there_is_no_error) {
  EXPECT_DOUBLE_EQ(l1_loss(x23(), y23()).item(), 9.25 / 6);
  const auto f = [](const Tensor& x) { return l1_loss(x, y23(), Reduction::none); };
  expect_numbers(gradient_of_sum(f, x23()), {1, -1, 1, 0, -1, 1});
}

TEST(HuberLoss, is_a_line_from_delta_on) {
  EXPECT_DOUBLE_EQ(huber_loss(x23(), y23(), {.delta = 1.25}).item(), 1.359375);
  const auto f = [](const Tensor& x) {
    return huber_loss(x, zeros_like(x), {.reduction = Reduction::none, .delta = 1.5});
  };
  const Tensor x = tensor<double>({1.5, -1.5, 0.2, 4});
  expect_numbers(f(x), {1.125, 1.125, 0.02, 4.875});
  expect_numbers(gradient_of_sum(f, x), {1.5, -1.5, 0.2, 1.5});
  testing_support::expect_gradients([](const auto& in) { return huber_loss(in[0], in[1]); },
                                    {x23(), y23()});
}

TEST(SmoothL1Loss, is_a_line_from_beta_on) {
  const auto f = [](const Tensor& x) {
    return smooth_l1_loss(x, y23(), {.reduction = Reduction::none, .beta = 0.75});
  };
  expect_numbers(f(x23()), {1.0 / 24, 1.625, 2.625, 0, 1.625, 1.625});
  expect_numbers(gradient_of_sum(f, x23()), {1.0 / 3, -1, 1, 0, -1, 1});
  EXPECT_DOUBLE_EQ(smooth_l1_loss(x23(), y23(), {.beta = 0}).item(), l1_loss(x23(), y23()).item());
}

TEST(RegressionLosses, refuse_what_cannot_be_meant) {
  const Tensor column = ones({2, 1});
  const Tensor row = ones({2});
  EXPECT_THROW(static_cast<void>(mse_loss(column, row)), ValueError);
  EXPECT_THROW(static_cast<void>(l1_loss(column, row)), ValueError);
  EXPECT_THROW(static_cast<void>(huber_loss(column, row)), ValueError);
  EXPECT_THROW(static_cast<void>(smooth_l1_loss(column, row)), ValueError);
  EXPECT_THROW(static_cast<void>(huber_loss(row, row, {.delta = 0})), ValueError);
  EXPECT_THROW(static_cast<void>(smooth_l1_loss(row, row, {.beta = -1})), ValueError);
}

TEST(RegressionLosses, of_16_bit_floats_are_f32_and_their_gradients_are_not) {
  const Tensor x = tensor<float>({1, 2, 4});
  const auto f = [](const Tensor& in) { return mse_loss(in, zeros_like(in)); };
  const Tensor narrow = cast(x, DType::bf16);
  EXPECT_EQ(f(narrow).dtype(), DType::f32);
  EXPECT_EQ(f(narrow).item(), 7);
  EXPECT_EQ(gradient_of_sum(f, narrow).dtype(), DType::bf16);
}

}  // namespace
}  // namespace tessera::nn
