#include <tessera/nn/layers/batch_norm.h>

#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/layer_norm.h>

#include "layers.h"
#include "support/expect_numbers.h"

namespace tessera::nn {
namespace {

using testing_support::Doubles;
using testing_support::expect_numbers;

TEST(Norms, print_numbers_as_python_does) {
  const auto batch = make<BatchNorm1d>(2, BatchNormOptions{.eps = 1, .momentum = 1});
  EXPECT_EQ(text_of(*batch),
            "BatchNorm1d(2, eps=1.0, momentum=1.0, affine=True, bias=True, "
            "track_running_stats=True)");
  EXPECT_EQ(text_of(*make<GroupNorm>(1, 2, GroupNormOptions{.eps = 1.0 / 3})),
            "GroupNorm(1, 2, eps=0.3333333333333333, affine=True, bias=True)");
  EXPECT_EQ(text_of(*make<LayerNorm>(2, LayerNormOptions{.eps = 2})),
            "LayerNorm((2,), eps=2.0, elementwise_affine=True, bias=True)");
}

/// Two channels: 1, 3, 5, 7 and 10, 10, 20, 20.
Tensor two_channels() {
  return from_values<float>({1, 3, 10, 10, 5, 7, 20, 20}, {2, 2, 2});
}

/// In f32.
void expect_rounded(const Tensor& actual, const Doubles& expected) {
  expect_numbers(actual, expected, 1e-5);
}

TEST(BatchNorm, prints_and_names_its_state_as_pytorch_does) {
  EXPECT_EQ(text_of(*make<BatchNorm2d>(3)),
            "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, "
            "track_running_stats=True)");
  const auto plain = make<BatchNorm1d>(
      3,
      BatchNormOptions{.eps = 1e-3, .momentum = {}, .affine = false, .track_running_stats = false});
  EXPECT_EQ(text_of(*plain),
            "BatchNorm1d(3, eps=0.001, momentum=None, affine=False, bias=False, "
            "track_running_stats=False)");
  EXPECT_TRUE(plain->state_dict().empty());
  std::string names;
  for (const auto& [name, value] : make<BatchNorm3d>(3)->state_dict()) {
    names += name + (value.tensor().dtype() == DType::i64 ? "* " : " ");
  }
  EXPECT_EQ(names, "weight bias running_mean running_var num_batches_tracked* ");
}

TEST(BatchNorm, normalises_by_the_batch_in_training_and_by_running_statistics_afterwards) {
  const auto layer = make<BatchNorm1d>(2, BatchNormOptions{.eps = 0});
  const double a = 3 / std::sqrt(5.0);
  const double b = 1 / std::sqrt(5.0);
  expect_rounded(layer(two_channels()), {-a, -b, -1, -1, b, a, 1, 1});
  expect_rounded(layer->running_mean, {0.4, 1.5});
  expect_rounded(layer->running_var, {0.9 + 0.1 * 20 / 3, 0.9 + 0.1 * 100 / 3});
  EXPECT_EQ(layer->num_batches_tracked.value().item<int>(), 1);
  layer->eval();
  const double root = std::sqrt(0.9 + 2.0 / 3);
  const auto y = layer(two_channels()).to_vector<double>();
  EXPECT_NEAR(y[0], (1 - 0.4) / root, 1e-5);
  EXPECT_NEAR(y[5], (7 - 0.4) / root, 1e-5);
  EXPECT_EQ(layer->num_batches_tracked.value().item<int>(), 1);
}

TEST(BatchNorm, without_momentum_averages_all_batches_alike) {
  const auto layer = make<BatchNorm1d>(2, BatchNormOptions{.momentum = {}});
  static_cast<void>(layer(two_channels()));
  static_cast<void>(layer(two_channels() * 4.0));
  expect_rounded(layer->running_mean, {10, 37.5});
}

TEST(BatchNorm, without_running_statistics_uses_those_of_the_batch_in_evaluation_too) {
  const auto layer = make<BatchNorm1d>(2, BatchNormOptions{.track_running_stats = false});
  const auto trained = layer(two_channels()).to_vector<float>();
  layer->eval();
  EXPECT_EQ(layer(two_channels()).to_vector<float>(), trained);
}

TEST(BatchNorm, names_what_does_not_fit) {
  const auto flat = make<BatchNorm1d>(2);
  EXPECT_THROW(flat(zeros({1, 2})), ValueError);
  EXPECT_THROW(flat(zeros({2, 2, 2, 2})), ValueError);
  EXPECT_THROW(flat(zeros({2, 3})), InvalidArgument);
  EXPECT_THROW(make<BatchNorm2d>(2)(zeros({2, 2, 2})), ValueError);
  EXPECT_THROW(make<BatchNorm3d>(2)(zeros({2, 2, 2})), ValueError);
  EXPECT_THROW(make<BatchNorm1d>(0), ValueError);
  flat->eval();
  EXPECT_EQ(flat(zeros({1, 2})).shape(), (Shape{1, 2}));
}

TEST(BatchNorm, advances_once_when_activations_are_computed_anew) {
  const auto run = [](bool checkpointed) {
    const auto layer = make<BatchNorm1d>(2);
    Tensor x = two_channels().set_requires_grad(true);
    const auto block = [&](const Tensor& t) { return layer(t) * layer(t); };
    const Tensor y = checkpointed ? checkpoint(block, x) : block(x);
    sum_to(y * y * two_channels(), {}).backward();
    EXPECT_EQ(layer->num_batches_tracked.value().item<int>(), 2);
    auto all = x.grad().to_vector<float>();
    for (const Tensor& more : {layer->weight.grad(), layer->running_var.value()}) {
      const auto values = more.to_vector<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

/// A loss through batch norm in microbatches of a pass, its gradients, and the statistics after it.
std::vector<double> of_pass(std::int64_t count) {
  const auto layer = make<BatchNorm1d>(2);
  std::vector<double> all;
  for (std::int64_t first = 0; first < 4; first += count) {
    Context::current().pass = {.grain = 4, .first = first, .count = count, .samples = 2 * count};
    Tensor x = from_values<float>({1, 3, 2, 7, 0, 1, 5, 5, 2, 2, 8, 1, 4, 4, 6, 0}, {8, 2});
    x = contiguous(slice(x, 0, 2 * first, 2 * (first + count)));
    if (count > 1) {
      x.get().set_microbatches({.count = static_cast<std::int32_t>(count), .dim = 0});
    }
    const auto [value, grads, next] =
        value_and_grad([&](const auto& m) { return sum(m(x) * m(x) * x); }, layer);
    const auto mean = next->running_mean.value().template to_vector<double>();
    all.insert(all.end(), mean.begin(), mean.end());
    EXPECT_EQ(next->num_batches_tracked.value().template item<int>(), 2);
  }
  Context::current().pass = {};
  return all;
}

TEST(BatchNorm, pure_calls_average_the_statistics_of_microbatches) {
  const std::vector<double> each = of_pass(1);
  const std::vector<double> at_once = of_pass(4);
  ASSERT_EQ(at_once.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(at_once[c], (each[c] + each[2 + c] + each[4 + c] + each[6 + c]) / 4, 1e-6);
  }
}

TEST(BatchNorm, says_once_that_microbatches_have_their_own_statistics) {
  const ContextScope context(std::make_shared<Context>());
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const auto layer = make<BatchNorm1d>(2);
  static_cast<void>(layer(two_channels()));
  EXPECT_TRUE(lines.empty());
  Context::current().pass = {.grain = 4, .samples = 2};
  static_cast<void>(layer(two_channels()));
  static_cast<void>(layer(two_channels()));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("each microbatch alone"), std::string::npos) << lines[0];
}

TEST(InstanceNorm, normalises_every_channel_of_every_sample) {
  const auto layer = make<InstanceNorm1d>(2, InstanceNormOptions{.eps = 0.75});
  EXPECT_EQ(text_of(*layer),
            "InstanceNorm1d(2, eps=0.75, momentum=0.1, affine=False, bias=False, "
            "track_running_stats=False)");
  const double b = 1 / std::sqrt(1.75);
  expect_rounded(layer(two_channels()), {-b, b, 0, 0, -b, b, 0, 0});
  expect_rounded(layer(from_values<float>({1, 3, 10, 10}, {2, 2})), {-b, b, 0, 0});
}

TEST(InstanceNorm, averages_the_statistics_of_samples_if_asked_to) {
  const auto layer =
      make<InstanceNorm1d>(2, InstanceNormOptions{.affine = true, .track_running_stats = true});
  static_cast<void>(layer(two_channels()));
  expect_rounded(layer->running_mean, {0.4, 1.5});
  expect_rounded(layer->running_var, {0.9 + 0.1 * 2, 0.9});
  layer->eval();
  const auto y = layer(two_channels()).to_vector<double>();
  EXPECT_NEAR(y[0], (1 - 0.4) / std::sqrt(1.1 + 1e-5), 1e-5);
}

TEST(InstanceNorm, names_what_does_not_fit) {
  const auto layer = make<InstanceNorm2d>(2, InstanceNormOptions{.affine = true});
  EXPECT_THROW(layer(zeros({2, 2})), ValueError);
  EXPECT_THROW(layer(zeros({2, 3, 4, 4})), ValueError);
  EXPECT_THROW(layer(zeros({2, 2, 1, 1})), ValueError);
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(make<InstanceNorm2d>(2)(ones({2, 3, 4, 4})).shape(), (Shape{2, 3, 4, 4}));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("not used without affine"), std::string::npos) << lines[0];
  EXPECT_EQ(make<InstanceNorm3d>(2)(ones({2, 3, 4, 4})).shape(), (Shape{2, 3, 4, 4}));
}

TEST(GroupNorm, is_its_function_with_weights) {
  const auto layer = make<GroupNorm>(1, 2, GroupNormOptions{.eps = 0});
  EXPECT_EQ(text_of(*layer), "GroupNorm(1, 2, eps=0.0, affine=True, bias=True)");
  layer->load_state_dict({{"weight", tensor<float>({1, 2})}, {"bias", tensor<float>({0, 10})}});
  const double root = std::sqrt(16.5);  // of 1, 3, 10, 10 around 6
  const auto y = layer(two_channels()).to_vector<double>();
  EXPECT_NEAR(y[0], -5 / root, 1e-5);
  EXPECT_NEAR(y[3], 10 + 8 / root, 1e-5);
  EXPECT_THROW(make<GroupNorm>(4, 6), ValueError);
  EXPECT_THROW(layer(zeros({2, 3, 2})), InvalidArgument);
}

TEST(LayerNorm, may_span_several_dims) {
  const auto layer = make<LayerNorm>(Shape{2, 2}, LayerNormOptions{.eps = 0});
  EXPECT_EQ(text_of(*layer), "LayerNorm((2, 2), eps=0.0, elementwise_affine=True, bias=True)");
  EXPECT_EQ(layer->weight.shape(), (Shape{2, 2}));
  const double root = std::sqrt(16.5);
  const auto y = layer(two_channels()).to_vector<double>();
  EXPECT_NEAR(y[0], -5 / root, 1e-5);
  EXPECT_NEAR(y[3], 4 / root, 1e-5);
  EXPECT_THROW(layer(zeros({2, 3})), InvalidArgument);
  EXPECT_THROW(layer(zeros({2})), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
