// kl_div, binary_cross_entropy and binary_cross_entropy_with_logits.
#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/loss/bce_loss.h>
#include <tessera/nn/loss/bce_with_logits_loss.h>
#include <tessera/nn/loss/kl_div_loss.h>

#include "losses.h"
#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::expect_gradients;

Tensor probabilities() {
  return from_values<double>({0.5, 0.125, 0.875, 0.25, 1, 0}, {2, 3});
}
Tensor targets() {
  return from_values<double>({1, 0.25, 0.5, 0, 1, 0}, {2, 3});
}
Tensor sample_weights() {
  return from_values<double>({0.5, 2}, {2, 1});
}

TEST(KlDiv, is_that_of_pytorch) {
  const Tensor logs = log_softmax(x23(), 1);
  const Tensor target = from_values<double>({0.5, 0.25, 0.25, 0.125, 0.125, 0.75}, {2, 3});
  expect_numbers(kl_div(logs, target, {.reduction = KLDivReduction::none}),
                 {0.5197374012710436, 0.5240819054955355, -0.2884180945044645, -0.10682947668794016,
                  0.049420523312059816, 0.14034274179340014});
  const KLDivLossOptions options{.reduction = KLDivReduction::batchmean, .log_target = true};
  const Tensor log_target = log_softmax(y23(), 1);
  expect_numbers(kl_div(logs, log_target, options), {1.3634471071120622});
  expect_gradients([](const auto& in) { return kl_div(in[0], in[1]); }, {logs, target});
  expect_gradients([&](const auto& in) { return kl_div(in[0], in[1], options); },
                   {logs, log_target});
}

TEST(KlDiv, is_0_where_the_target_is_0_whatever_the_input) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto loss_and_gradients = [](const Tensor& logs, const Tensor& target, bool log_target) {
    Tensor x = logs.detach().set_requires_grad(true), y = target.detach().set_requires_grad(true);
    const Tensor losses =
        kl_div(x, y, {.reduction = KLDivReduction::none, .log_target = log_target});
    sum(losses).backward();
    for (const Tensor& gradient : {x.grad(), y.grad()}) {
      const std::vector<double> numbers = gradient.to_vector<double>();
      EXPECT_TRUE(std::ranges::all_of(numbers, [](double g) { return std::isfinite(g); }));
    }
    return losses;
  };
  const Tensor logs = from_values<double>({-kInf, std::log(0.5), -1}, {3});
  expect_numbers(loss_and_gradients(logs, from_values<double>({0, 0.5, 0}, {3}), false), {0, 0, 0});
  const Tensor log_target = from_values<double>({-kInf, std::log(0.5), -kInf}, {3});
  expect_numbers(loss_and_gradients(logs, log_target, true), {0, 0, 0});
}

TEST(BinaryCrossEntropy, refuses_weights_that_would_repeat_the_losses) {
  const Tensor p = full({3, 2}, 0.5), target = ones({3, 2});
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2}, Shape{3, 1}, Shape{3, 2}}) {
    const Tensor w = ones(shape);
    EXPECT_NEAR(binary_cross_entropy(p, target, {.weight = w}).item(), std::log(2), 1e-6);
    const double expected = binary_cross_entropy_with_logits(p, target).item();
    EXPECT_NEAR(binary_cross_entropy_with_logits(p, target, {.weight = w}).item(), expected, 1e-6);
    EXPECT_NEAR(binary_cross_entropy_with_logits(p, target, {.pos_weight = w}).item(), expected,
                1e-6);
  }
  for (const Shape& shape : {Shape{1, 3, 2}, Shape{4, 3, 2}, Shape{3}, Shape{2, 3}}) {
    const Tensor w = ones(shape);
    EXPECT_THROW(binary_cross_entropy(p, target, {.weight = w}), InvalidArgument) << shape;
    EXPECT_THROW(binary_cross_entropy_with_logits(p, target, {.weight = w}), InvalidArgument);
    EXPECT_THROW(binary_cross_entropy_with_logits(p, target, {.pos_weight = w}), InvalidArgument);
  }
}

TEST(KlDiv, of_an_impossible_event_is_0_with_a_gradient_of_0) {
  const Tensor target = tensor<double>({0, 1}).set_requires_grad(true);
  const Tensor loss = kl_div(tensor<double>({-1, -2}), target, {.reduction = KLDivReduction::sum});
  EXPECT_DOUBLE_EQ(loss.item(), 2);
  loss.backward();
  expect_numbers(target.grad(), {1, 3});
}

TEST(BinaryCrossEntropy, is_that_of_pytorch) {
  const BCELossOptions each{.reduction = Reduction::none};
  const auto f = [&](const Tensor& x) { return binary_cross_entropy(x, targets(), each); };
  expect_numbers(f(probabilities()), {0.6931471805599453, 0.6200089298883509, 1.1064864671521792,
                                      0.2876820724517809, 0, 0});
  expect_numbers(gradient_of_sum(f, probabilities()), {-2, -8.0 / 7, 24.0 / 7, 4.0 / 3, 0, 0});
  expect_numbers(binary_cross_entropy(probabilities(), targets(), {.weight = sample_weights()}),
                 {0.29753090561729995});
}

TEST(BinaryCrossEntropy, is_at_most_100) {
  const auto f = [](const Tensor& x) {
    return binary_cross_entropy(x, tensor<double>({1, 0}), {.reduction = Reduction::none});
  };
  const Tensor wrong = tensor<double>({0, 1});
  expect_numbers(f(wrong), {100, 100});
  expect_numbers(gradient_of_sum(f, wrong), {-1e12, 1e12});
}

TEST(BinaryCrossEntropy, refuses_what_is_no_probability) {
  const Tensor good = tensor<float>({0.5F});
  for (const float bad : {-0.5F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(static_cast<void>(binary_cross_entropy(tensor<float>({bad}), good)),
                 InvalidArgument);
    EXPECT_THROW(static_cast<void>(binary_cross_entropy(good, tensor<float>({bad}))),
                 InvalidArgument);
  }
  EXPECT_THROW(static_cast<void>(binary_cross_entropy(ones({2, 1}), ones({2}))), ValueError);
}

TEST(BinaryCrossEntropyWithLogits, is_that_of_pytorch) {
  const Tensor weight = tensor<double>({0.5, 2, 1.25});
  const BCEWithLogitsLossOptions options{.weight = sample_weights(), .pos_weight = weight};
  const Tensor logits = x23() * 10;
  expect_numbers(binary_cross_entropy_with_logits(logits, targets(), options), {12.19244150602455});
  const auto f = [&](const auto& in) {
    return binary_cross_entropy_with_logits(in[0], in[1], {.weight = in[2], .pos_weight = in[3]});
  };
  expect_gradients(f, {x23(), targets(), sample_weights(), weight});
}

TEST(BinaryCrossEntropyWithLogits, keeps_its_digits_where_a_probability_would_not) {
  const BCEWithLogitsLossOptions each{.reduction = Reduction::none};
  const auto f = [&](const Tensor& x) {
    return binary_cross_entropy_with_logits(x, tensor<double>({0, 1, 1}), each);
  };
  const Tensor x = tensor<double>({-50, 50, -1000});
  const Numbers losses = f(x).to_vector<double>();
  EXPECT_NEAR(losses[0] / std::exp(-50), 1, 1e-14);
  EXPECT_NEAR(losses[1] / std::exp(-50), 1, 1e-14);
  EXPECT_EQ(losses[2], 1000);
  const Numbers slopes = gradient_of_sum(f, x).to_vector<double>();
  EXPECT_NEAR(slopes[0] / std::exp(-50), 1, 1e-14);
  EXPECT_NEAR(slopes[1] / -std::exp(-50), 1, 1e-14);
  EXPECT_EQ(slopes[2], -1);
}

TEST(BinaryCrossEntropyWithLogits, is_binary_cross_entropy_behind_a_sigmoid) {
  expect_numbers(binary_cross_entropy_with_logits(x23(), targets()),
                 binary_cross_entropy(sigmoid(x23()), targets()).to_vector<double>());
}

}  // namespace
}  // namespace tessera::nn
