// nll_loss, cross_entropy_loss and multi_margin_loss.
#include <cmath>

#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/permute.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/loss/multi_margin_loss.h>
#include <tessera/nn/loss/nll_loss.h>

#include "losses.h"
#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::expect_gradients;

Tensor weights_of_three() {
  return tensor<double>({0.5, 2, 1.25});
}
Tensor two_classes() {
  return tensor<std::int64_t>({2, 0});
}

/// (4, 3, 2): classes in dim 1.
Tensor logits() {
  return from_values<double>({0.5, 0.75, -1.25, -0.5, 2,     1.5,  0.25, 0.75, 0.75, 1.5, -1, -0.5,
                              1.5, -1,   0.5,   0.25, -0.25, 0.75, 0.25, 0,    -2,   -2,  3,  2},
                             {4, 3, 2});
}
Tensor classes() {
  return from_values<std::int64_t>({2, 0, 1, 1, -100, 2, 0, 1}, {4, 2});
}

TEST(NllLoss, weighs_classes_and_ignores_one) {
  const Tensor logs = log_softmax(x23(), 1);
  expect_numbers(nll_loss(logs, two_classes(), {.weight = weights_of_three()}),
                 {0.5161030531232561});
  expect_numbers(
      nll_loss(logs, two_classes(),
               {.weight = weights_of_three(), .ignore_index = 0, .reduction = Reduction::none}),
      {0.29077747887754085, 0});
  const auto f = [](const auto& in) { return nll_loss(in[0], two_classes()); };
  expect_gradients(f, {logs});
}

TEST(NllLoss, takes_a_single_sample_and_many_dims) {
  const Tensor logs = log_softmax(logits(), 1);
  const Tensor each = nll_loss(logs, classes(), {.reduction = Reduction::none});
  EXPECT_EQ(each.shape(), (Shape{4, 2}));
  EXPECT_DOUBLE_EQ(each.to_vector<double>()[1], -logs.to_vector<double>()[1]);
  EXPECT_EQ(each.to_vector<double>()[4], 0);
  const Tensor one = nll_loss(tensor<double>({-1, -2}), scalar(1, {.dtype = DType::i64}));
  EXPECT_EQ(one.shape(), Shape{});
  EXPECT_EQ(one.item(), 2);
}

TEST(ClassLosses, over_no_rows_are_zero_with_zero_gradients) {
  const Tensor none = tensor<std::int64_t>({-100, -100});
  const Tensor weight = tensor<double>({1, 2, 3});
  EXPECT_EQ(nll_loss(x23(), none).item(), 0);
  EXPECT_EQ(cross_entropy_loss(x23(), none).item(), 0);
  EXPECT_EQ(cross_entropy_loss(x23(), none, {.weight = weight}).item(), 0);
  const auto f = [&](const Tensor& x) { return nll_loss(x, none, {.weight = weight}); };
  expect_numbers(gradient_of_sum(f, x23()), {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(nll_loss(x23(), none, {.reduction = Reduction::sum}).item(), 0);
}

TEST(NllLoss, ignored_rows_may_hold_anything) {
  const Tensor logs = from_values<double>({-1, -2, -INFINITY, NAN}, {2, 2});
  const auto f = [](const Tensor& x) { return nll_loss(x, tensor<std::int64_t>({1, -100})); };
  EXPECT_EQ(f(logs).item(), 2);
  expect_numbers(gradient_of_sum(f, logs), {0, -1, 0, 0});
}

TEST(ClassLosses, refuse_wrong_targets) {
  const Tensor x = zeros({2, 3});
  for (const Tensor& wrong : {tensor<std::int64_t>({0, 3}), tensor<std::int64_t>({0, -1}),
                              tensor<std::int64_t>({0}), tensor<bool>({true, false})}) {
    EXPECT_THROW(static_cast<void>(nll_loss(x, wrong)), InvalidArgument);
    EXPECT_THROW(static_cast<void>(cross_entropy_loss(x, wrong)), InvalidArgument);
    EXPECT_THROW(static_cast<void>(multi_margin_loss(x, wrong)), InvalidArgument);
  }
  const Tensor pair = ones({2});
  EXPECT_THROW(static_cast<void>(nll_loss(x, two_classes(), {.weight = pair})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(nll_loss(scalar(0), two_classes())), ValueError);
  EXPECT_THROW(static_cast<void>(cross_entropy_loss(x, x, {.ignore_index = 1})), ValueError);
  EXPECT_THROW(static_cast<void>(cross_entropy_loss(x, x, {.label_smoothing = 2})),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(multi_margin_loss(x, two_classes(), {.p = 3})), ValueError);
}

TEST(CrossEntropyLoss, is_that_of_pytorch_for_all_options) {
  const auto loss = [](const CrossEntropyLossOptions& options) {
    return cross_entropy_loss(logits(), classes(), options);
  };
  const Tensor w = weights_of_three();
  expect_numbers(loss({}), {1.4352878176632564});
  expect_numbers(loss({.weight = w}), {1.412878416104607});
  expect_numbers(loss({.weight = w, .label_smoothing = 0.25}), {1.4871921911456525});
  expect_numbers(loss({.reduction = Reduction::sum, .label_smoothing = 0.25}),
                 {10.547014723642793});
  expect_numbers(loss({.weight = w, .reduction = Reduction::none, .label_smoothing = 0.25}),
                 {0.8949441455442074, 0.9722622714545495, 1.248546861003173, 1.1001687156529034, 0,
                  0.8772305937952918, 2.0261096517775057, 7.009063576656068});
}

/// From PyTorch 2.9 on the whole batch. The first two samples, whose class weighs nothing, are a
/// microbatch by themselves where there are four.
TEST(CrossEntropyLoss, smooths_targets_of_a_class_that_weighs_nothing_in_any_microbatches) {
  const Tensor x =
      from_values<double>({0.5,  -1.25, 2,   0.25, 0.75, -1,   1.5, 0.5,  -0.25, 0.25, -2, 3,
                           0.75, -0.5,  1.5, 0.75, 1.5,  -0.5, -1,  0.25, 0.75,  0,    -2, 2},
                          {8, 3});
  const Tensor y = tensor<std::int64_t>({0, 0, 1, 2, 0, 1, 2, 1});
  for (const std::int64_t grain : {1, 2, 4}) {
    data::DataLoader loader(data::TensorDataset{x, y},
                            {.batch_size = 8, .workers = 0, .grain = grain});
    for (auto& [logits, target] : loader) {
      const Tensor scale = ones({3}, {.dtype = DType::f64}).set_requires_grad(true);
      const Tensor loss = cross_entropy_loss(
          logits * scale, target, {.weight = tensor<double>({0, 1, 2}), .label_smoothing = 0.25});
      loss.backward();
      EXPECT_NEAR(loss.item(), 1.2113823718487562, 1e-12) << grain;
      expect_numbers(scale.grad(), {0.1638764062626138, 0.20885086657791438, 0.14773684384698843});
    }
  }
}

TEST(CrossEntropyLoss, takes_distributions_as_targets) {
  const Tensor target = from_values<double>({0.5, 0.25, 0.25, 0, 0.125, 0.875}, {2, 3});
  const CrossEntropyLossOptions weighted{.weight = weights_of_three(), .label_smoothing = 0.25};
  expect_numbers(cross_entropy_loss(x23(), target, weighted), {1.8643534752433035});
  expect_numbers(cross_entropy_loss(x23(), target, {.reduction = Reduction::sum}),
                 {2.5199277112783474});
  const auto f = [&](const auto& in) { return cross_entropy_loss(in[0], in[1], weighted); };
  expect_gradients(f, {x23(), target});
}

TEST(CrossEntropyLoss, has_gradients_for_all_options) {
  for (const Tensor& weight : {Tensor(), weights_of_three()}) {
    for (const double smoothing : {0.0, 0.25}) {
      const CrossEntropyLossOptions options{.weight = weight, .label_smoothing = smoothing};
      const auto f = [&](const auto& in) { return cross_entropy_loss(in[0], classes(), options); };
      expect_gradients(f, {logits()});
    }
  }
}

TEST(CrossEntropyLoss, finds_classes_in_the_dim_that_it_is_told) {
  const Tensor last = permute(logits(), {0, 2, 1});
  for (const Tensor& weight : {Tensor(), weights_of_three()}) {
    const Tensor loss = cross_entropy_loss(last, classes(), {.weight = weight, .class_dim = -1});
    expect_numbers(loss,
                   cross_entropy_loss(logits(), classes(), {.weight = weight}).to_vector<double>());
  }
  const Tensor one = cross_entropy_loss(zeros({5}), scalar(1, {.dtype = DType::i64}));
  EXPECT_NEAR(one.item(), std::log(5.0), 1e-6);
}

TEST(MultiMarginLoss, is_that_of_pytorch) {
  const MultiMarginLossOptions weighted{.margin = 1.5, .weight = weights_of_three()};
  expect_numbers(multi_margin_loss(x23(), two_classes(), weighted), {0.20833333333333334});
  const MultiMarginLossOptions squares{.p = 2, .reduction = Reduction::none};
  expect_numbers(multi_margin_loss(x23(), two_classes(), squares), {0, 1.0208333333333333});
  const auto f = [&](const auto& in) { return multi_margin_loss(in[0], two_classes(), weighted); };
  expect_gradients(f, {z23()});
}

TEST(MultiMarginLoss, has_no_slope_at_its_kink) {
  const auto f = [](const Tensor& x) {
    return multi_margin_loss(x, tensor<std::int64_t>({0, 1}), {.reduction = Reduction::none});
  };
  const Tensor x = from_values<double>({2, 1, 3, 1, 0, -1}, {2, 3});
  const double third = 1.0 / 3;
  expect_numbers(f(x), {2 * third, 2 * third});
  expect_numbers(gradient_of_sum(f, x), {-third, 0, third, third, -third, 0});
}

}  // namespace
}  // namespace tessera::nn
