#include <tessera/core/ops/batch_norm.h>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/group_norm.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_same_bits_for_all_passes;
using testing_support::expect_second_gradients;
using testing_support::Inputs;
using testing_support::loss_of_samples;
using testing_support::numbers;

void set_dtype(BatchNorm::Attrs& attrs, DType dtype) {
  attrs.dtype = dtype;
}
void set_parameters(BatchNormBackward::Attrs& attrs, DType dtype) {
  attrs.parameters = dtype;
}

/// A statistic that the forward op saves, from the inputs of its backward op.
InputSpec statistic(std::size_t output) {
  return derived([=](const std::vector<Tensor>& in) {
    return call_all<BatchNorm>({in[1], Tensor(), Tensor()}, {.dtype = in[1].dtype()})[output];
  });
}

const RegisterOpCase<BatchNorm> kBatchNormCase{{
    .samples = {{.inputs = {real({4, 4, 5}), real({4}), real({4})}},
                {.inputs = {real({6, 4}), real({4}), absent()}, .attrs = {.epsilon = 0.25}},
                {.inputs = {real({2, 2, 3, 5}), absent(), absent()}}},
    .wrong = {{.inputs = {real({4, 3, 5}), real({4}), absent()}},
              {.inputs = {real({4, 3, 5}), real({3}), real({4})}},
              {.inputs = {real({4, 3, 5}), absent(), real({3})}},
              {.inputs = {integers({4, 3}, 0, 2), absent(), absent()}},
              {.inputs = {real({4}), absent(), absent()}},
              {.inputs = {real({4, 3}), absent(), absent()}, .attrs = {.epsilon = -1}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_dtype,
    .gradient_outputs = 1,
}};

const RegisterOpCase<BatchNormBackward> kBatchNormBackwardCase{{
    .samples = {{.inputs = {real({4, 4, 5}), real({4, 4, 5}), statistic(1), statistic(2),
                            real({4})},
                 .attrs = {.weight = true, .bias = true}},
                {.inputs = {real({6, 4}), real({6, 4}), statistic(1), statistic(2), absent()}}},
    .wrong = {{.inputs = {real({4, 3}), real({6, 3}), real({3}), real({3}), absent()}},
              {.inputs = {real({6, 3}), real({6, 3}), real({6}), real({3}), absent()}},
              {.inputs = {real({6, 3}), real({6, 3}), real({3}), real({6}), absent()}},
              {.inputs = {real({6, 3}), real({6, 3}), real({3}), real({3}), real({6})}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_parameters,
    .second_gradient = SecondGradient::unchecked,  // third derivatives: statistics have none
}};

TEST(BatchNorm, gives_channels_mean_0_and_variance_1) {
  const Tensor x = from_values<float>({1, 10, 3, 30}, {2, 2});
  const BatchNormResult result = batch_norm(x, {}, {}, 0);
  EXPECT_EQ(result.y.to_vector<float>(), (std::vector<float>{-1, -1, 1, 1}));
  EXPECT_EQ(result.mean.to_vector<float>(), (std::vector<float>{2, 20}));
  EXPECT_EQ(result.variance.to_vector<float>(), (std::vector<float>{1, 100}));
  const Tensor same = batch_norm_with(x, result.mean, result.variance, {}, {}, 0);
  EXPECT_EQ(same.to_vector<float>(), result.y.to_vector<float>());
}

TEST(BatchNorm, gradients) {
  const auto f = [](const Inputs& x) { return batch_norm(x[0], x[1], x[2]).y; };
  const Inputs inputs{numbers({3, 2, 4}, 1), numbers({2}, 2), numbers({2}, 3)};
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
  const auto given = [](const Inputs& x) {
    return batch_norm_with(x[0], x[1], x[2] * x[2] + 0.5, x[1]);
  };
  expect_gradients(given, inputs);
}

TEST(BatchNorm, normalises_the_microbatches_of_a_pass_each_by_itself) {
  const auto loss = [](const Inputs& p, const Inputs& x) {
    const Tensor once = batch_norm(x[0], p[0], p[1]).y;
    return loss_of_samples(batch_norm(once, p[0]).y);  // a weight with two uses
  };
  const Inputs parameters{numbers({3}, 2, DType::f32), numbers({3}, 3, DType::f32)};
  expect_same_bits_for_all_passes(loss, parameters, {numbers({8, 3, 5}, 1, DType::f32)});
}

TEST(BatchNorm, keeps_the_dtype_of_x_and_statistics_in_f32) {
  const AutocastScope autocast(DType::bf16);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor x = numbers({4, 3, 8}, 1, dtype).set_requires_grad(true);
    const Tensor weight = numbers({3}, 2, DType::f32).set_requires_grad(true);
    const BatchNormResult result = batch_norm(x, weight);
    EXPECT_EQ(result.y.dtype(), dtype);
    EXPECT_EQ(result.mean.dtype(), DType::f32);
    EXPECT_EQ(batch_norm_with(x, result.mean, result.variance, weight).dtype(), dtype);
    EXPECT_EQ(group_norm(x, 1, weight).dtype(), dtype);
    sum_to(result.y, {}).backward();
    EXPECT_EQ(x.grad().dtype(), dtype);
    EXPECT_EQ(weight.grad().dtype(), DType::f32);
  }
}

/// The same formula, written out.
std::vector<double> expected_group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight,
                                        const Tensor& bias) {
  auto values = x.to_vector<double>();
  const auto row = static_cast<std::size_t>(x.numel() / x.size(0) / groups);
  const auto inner = static_cast<std::size_t>(x.numel() / x.size(0) / x.size(1));
  for (std::size_t first = 0; first < values.size(); first += row) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = first; i < first + row; ++i) {
      mean += values[i] / static_cast<double>(row);
    }
    for (std::size_t i = first; i < first + row; ++i) {
      variance += (values[i] - mean) * (values[i] - mean) / static_cast<double>(row);
    }
    for (std::size_t i = first; i < first + row; ++i) {
      const std::size_t c = i / inner % static_cast<std::size_t>(x.size(1));
      values[i] = (values[i] - mean) / std::sqrt(variance + 1e-5) * weight.to_vector<double>()[c] +
                  bias.to_vector<double>()[c];
    }
  }
  return values;
}

TEST(GroupNorm, brings_every_group_of_every_sample_to_mean_0_and_variance_1) {
  const Tensor x = numbers({2, 6, 3}, 1);
  const Tensor weight = numbers({6}, 2);
  const Tensor bias = numbers({6}, 3);
  for (const std::int64_t groups : {1, 2, 6}) {
    const auto expected = expected_group_norm(x, groups, weight, bias);
    const auto y = group_norm(x, groups, weight, bias).to_vector<double>();
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(y[i], expected[i], 1e-12) << groups << " groups, element " << i;
    }
  }
  EXPECT_EQ(instance_norm(x, weight).to_vector<double>(),
            group_norm(x, 6, weight).to_vector<double>());
}

TEST(GroupNorm, gradients) {
  const auto f = [](const Inputs& x) { return group_norm(x[0], 2, x[1], x[2]); };
  const Inputs inputs{numbers({2, 4, 3}, 1), numbers({4}, 2), numbers({4}, 3)};
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
}

TEST(GroupNorm, bits_do_not_depend_on_passes) {
  expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return loss_of_samples(group_norm(x[0], 3, p[0], p[1]));
      },
      {numbers({6}, 2, DType::f32), numbers({6}, 3, DType::f32)},
      {numbers({8, 6, 5}, 1, DType::f32)});
}

TEST(GroupNorm, names_what_does_not_fit) {
  EXPECT_THROW(static_cast<void>(group_norm(zeros({2, 6, 3}), 4)), ValueError);
  EXPECT_THROW(static_cast<void>(group_norm(zeros({1, 6}), 6)), ValueError);
  EXPECT_THROW(static_cast<void>(group_norm(zeros({6}), 2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(instance_norm(zeros({2, 6, 1}))), ValueError);
}

}  // namespace
}  // namespace tessera
