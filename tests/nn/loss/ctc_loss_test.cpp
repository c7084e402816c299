#include <tessera/nn/loss/ctc_loss.h>

#include <cmath>

#include <tessera/core/ops/log_softmax.h>

#include "losses.h"
#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::expect_gradients;

using Labels = std::vector<std::int64_t>;

/// Logits (5, 3, 4).
Tensor ctc_logits() {
  Tensor x = empty({5, 3, 4}, {.dtype = DType::f64});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    x.data<double>()[i] = static_cast<double>((7 * i * i + 3 * i) % 23 - 11) / 8;
  }
  return x;
}
Tensor input_lengths() {
  return tensor<std::int64_t>({5, 4, 3});
}
/// Labels and their number; what follows is not read.
Tensor ctc_targets() {
  return from_values<std::int64_t>({1, 2, 2, 3, 1, 0, 2, 0, 0}, {3, 3});
}
Tensor target_lengths() {
  return tensor<std::int64_t>({3, 2, 1});
}
Tensor ctc_loss_of(const Tensor& x, const CTCLossOptions& options = {}) {
  return ctc_loss(log_softmax(x, 2), ctc_targets(), input_lengths(), target_lengths(), options);
}

/// The labels that a path of classes stands for.
Labels collapsed(const Labels& path, std::int64_t blank) {
  Labels labels;
  for (std::size_t t = 0; t < path.size(); ++t) {
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) {
      labels.push_back(path[t]);
    }
  }
  return labels;
}

/// -log of the summed probabilities of all paths, one by one.
double loss_by_paths(const Tensor& log_probs, const Labels& labels, std::int64_t blank) {
  const std::int64_t frames = log_probs.size(0);
  const std::int64_t classes = log_probs.size(1);
  const Numbers logs = log_probs.to_vector<double>();
  double sum = 0;
  const auto count = static_cast<std::int64_t>(std::pow(classes, frames));
  for (std::int64_t number = 0; number < count; ++number) {
    Labels path;
    double log_probability = 0;
    for (std::int64_t t = 0, rest = number; t < frames; ++t, rest /= classes) {
      path.push_back(rest % classes);
      log_probability += logs[static_cast<std::size_t>(t * classes + path.back())];
    }
    sum += collapsed(path, blank) == labels ? std::exp(log_probability) : 0;
  }
  return -std::log(sum);
}

TEST(CtcLoss, sums_over_all_paths) {
  for (const std::int64_t blank : {0, 3}) {
    for (const Labels& labels : {Labels{}, {1}, {2, 2}, {1, 2, 1}, {2, 1, 1}}) {
      const Tensor logs = log_softmax(testing_support::numbers({6, 4}, 3), 1);
      const auto length = static_cast<std::int64_t>(labels.size());
      const Tensor loss = ctc_loss(logs, from_values<std::int64_t>(std::span(labels), {length}),
                                   scalar(6, {.dtype = DType::i64}),
                                   scalar(static_cast<double>(length), {.dtype = DType::i64}),
                                   {.blank = blank, .reduction = Reduction::sum});
      EXPECT_EQ(loss.shape(), Shape{});
      EXPECT_NEAR(loss.item(), loss_by_paths(logs, labels, blank), 1e-12);
    }
  }
}

TEST(CtcLoss, is_that_of_pytorch) {
  expect_numbers(ctc_loss_of(ctc_logits(), {.reduction = Reduction::none}),
                 {4.534379806082222, 3.0547301521966133, 3.18621493207196});
  expect_numbers(ctc_loss_of(ctc_logits()), {2.0750133145103358});
  const Tensor joined = tensor<std::int64_t>({0, 1, 1, 2, 0});
  const CTCLossOptions options{.blank = 3, .reduction = Reduction::sum};
  expect_numbers(ctc_loss(log_softmax(ctc_logits(), 2), joined, input_lengths(),
                          tensor<std::int64_t>({2, 1, 2}), options),
                 {10.722719090142249});
}

TEST(CtcLoss, has_its_gradient) {
  expect_gradients([](const auto& in) { return ctc_loss_of(in[0]); }, {ctc_logits()});
  // That of a frame beyond a sample's length is 0, as PyTorch's is.
  const Numbers gradient =
      gradient_of_sum([](const Tensor& x) { return ctc_loss_of(x); }, ctc_logits())
          .to_vector<double>();
  EXPECT_EQ(gradient[3 * 12 + 8], 0);
  EXPECT_NEAR(gradient[0], 0.010564756624238369, 1e-14);
  EXPECT_NEAR(gradient[51], 0.022175535398549908, 1e-14);
}

TEST(CtcLoss, of_too_short_an_input_is_infinite_or_0) {
  const Tensor logs = log_softmax(testing_support::numbers({2, 1, 3}, 4), 2);
  const auto loss = [](bool zero) {
    return [zero](const Tensor& x) {
      return ctc_loss(x, from_values<std::int64_t>({1, 1}, {1, 2}), tensor<std::int64_t>({2}),
                      tensor<std::int64_t>({2}), {.zero_infinity = zero});
    };
  };
  EXPECT_TRUE(std::isinf(loss(false)(logs).item()));
  EXPECT_TRUE(std::isnan(gradient_of_sum(loss(false), logs).to_vector<double>()[0]));
  EXPECT_EQ(loss(true)(logs).item(), 0);
  expect_numbers(gradient_of_sum(loss(true), logs), {0, 0, 0, 0, 0, 0});
}

TEST(CtcLoss, refuses_wrong_labels_and_lengths) {
  const Tensor logs = zeros({5, 3, 4});
  const auto refuses = [&](const Tensor& labels, const Tensor& inputs, const Tensor& lengths) {
    EXPECT_THROW(static_cast<void>(ctc_loss(logs, labels, inputs, lengths)), InvalidArgument);
  };
  refuses(ctc_targets(), tensor<std::int64_t>({5, 4, 6}), target_lengths());
  refuses(ctc_targets(), tensor<std::int64_t>({5, 4, -1}), target_lengths());
  refuses(ctc_targets(), input_lengths(), tensor<std::int64_t>({3, 2, 4}));
  refuses(ctc_targets(), input_lengths(), tensor<std::int64_t>({3, 2, 2}));  // a blank
  refuses(ctc_targets(), input_lengths(), tensor<std::int64_t>({3, 2}));
  refuses(tensor<std::int64_t>({1, 2}), input_lengths(), tensor<std::int64_t>({1, 2, 0}));
  refuses(tensor<std::int64_t>({1, 2}), input_lengths(), tensor<std::int64_t>({1, 2, -1}));
  refuses(ctc_targets() * 2, input_lengths(), target_lengths());
  refuses(ones({3, 3}), input_lengths(), target_lengths());
  EXPECT_THROW(static_cast<void>(
                   ctc_loss(logs, ctc_targets(), input_lengths(), target_lengths(), {.blank = 4})),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
