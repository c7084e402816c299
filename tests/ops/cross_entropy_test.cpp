#include <tessera/core/ops/cross_entropy.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/linear.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Inputs;
using testing_support::numbers;

const InputSpec kTargets = given({4}, {1, -100, 5, 0}, DType::i64);
const InputSpec kClasses = given({2, 2}, {1, 3, 5, 0}, DType::i64);

const RegisterOpCase<CrossEntropy> kCrossEntropyCase{{
    .samples = {{.inputs = {real({4, 6}), kTargets},
                 .attrs = {.label_smoothing = 0.1, .reduction = LossReduction::none}},
                {.inputs = {real({4, 6}), kTargets}, .attrs = {.reduction = LossReduction::sum}},
                {.inputs = {real({2, 2, 6}), kClasses},
                 .attrs = {.ignore_index = 3, .reduction = LossReduction::none}},
                {.inputs = {real({1, 3, 4}), given({1, 3}, {1, 3, 0}, DType::i64)},
                 .attrs = {.reduction = LossReduction::none}}},
    .wrong = {{.inputs = {real({4, 6}), integers({4}, 6, 7)}},
              {.inputs = {real({4, 6}), integers({3}, 0, 6)}},
              {.inputs = {real({4, 6}), real({4})}},
              {.inputs = {integers({4, 6}, 0, 2), kTargets}},
              {.inputs = {real({4, 0}), kTargets}},
              {.inputs = {real({4, 6}), kTargets}, .attrs = {.label_smoothing = 2}}},
    .tolerance = {.of_largest = 2},
    .gradient_outputs = 1,
}};

const RegisterOpCase<CrossEntropy> kCrossEntropyMean{{
    .variant = "_mean",
    .samples = {{.inputs = {real({4, 6}), kTargets}},
                {.inputs = {real({2, 2, 6}), kClasses}, .attrs = {.label_smoothing = 0.1}},
                {.inputs = {real({1, 3, 4}), given({1, 3}, {1, -100, 0}, DType::i64)}}},
    .wrong = {},
    .tolerance = {.of_largest = 2},
    .gradient_outputs = 1,
    .means_of_microbatches = {0, 2},
}};

const InputSpec kLogSums = derived([](const std::vector<Tensor>& in) {
  return call_all<CrossEntropy>({in[1], in[2]}, {})[1];
});

const RegisterOpCase<CrossEntropyBackward> kCrossEntropyBackwardCase{{
    .samples = {{.inputs = {real({2, 2, 1}), real({2, 2, 6}), kClasses, kLogSums}},
                {.inputs = {real({4, 1}), real({4, 6}), integers({4}, 0, 6), kLogSums},
                 .attrs = {.label_smoothing = 0.1}},
                {.inputs = {real({1, 3, 1}), real({1, 3, 4}), integers({1, 3}, 0, 4), kLogSums}}},
    .wrong = {{.inputs = {real({4}), real({4, 6}), kTargets, real({4, 2})}},
              {.inputs = {real({4, 1}), real({4, 6}), integers({3}, 0, 6), real({4, 2})}},
              {.inputs = {real({4, 1}), real({4, 6}), kTargets, real({4, 1})}},
              {.inputs = {real({4, 1}), real({4, 6}), real({4}), real({4, 2})}}},
    .tolerance = {.of_largest = 4},
}};

TEST(CrossEntropy, is_the_logarithm_of_the_classes_for_equal_logits) {
  const Tensor loss = cross_entropy(zeros({2, 3, 7}), zeros({2, 3}, {.dtype = DType::i64}));
  EXPECT_EQ(loss.shape(), Shape{});
  EXPECT_FLOAT_EQ(loss.item<float>(), std::log(7.F));
}

TEST(CrossEntropy, gradients_for_all_options) {
  const Tensor targets = from_values<std::int64_t>({1, -100, 0, 3, 2, 2}, {2, 3});
  for (const auto reduction : {LossReduction::mean, LossReduction::sum, LossReduction::none}) {
    for (const double smoothing : {0.0, 0.1}) {
      const CrossEntropy::Attrs options{.label_smoothing = smoothing, .reduction = reduction};
      const auto f = [&](const Inputs& x) { return cross_entropy(x[0], targets, options); };
      expect_gradients(f, {numbers({2, 3, 4}, 1)});
      expect_second_gradients(f, {numbers({2, 3, 4}, 1)});
    }
  }
}

TEST(CrossEntropy, a_function_of_unreduced_losses_has_second_gradients) {
  const Tensor targets = from_values<std::int64_t>({1, -100, 0}, {3});
  const auto f = [&](const Inputs& x) {
    const Tensor rows = cross_entropy(x[0], targets, {.reduction = LossReduction::none});
    return rows * rows * x[1];
  };
  expect_second_gradients(f, {numbers({3, 4}, 1), numbers({3}, 2)});
}

TEST(CrossEntropy, ignored_rows_count_nothing) {
  const Tensor logits = numbers({3, 4}, 1);
  const Tensor targets = from_values<std::int64_t>({1, 9, 0}, {3});
  const Tensor loss =
      cross_entropy(logits, targets, {.ignore_index = 9, .reduction = LossReduction::none});
  const Tensor mean = cross_entropy(logits, targets, {.ignore_index = 9});
  const std::vector<double> rows = loss.to_vector<double>();
  EXPECT_EQ(rows[1], 0);
  EXPECT_DOUBLE_EQ(mean.item(), (rows[0] + rows[2]) / 2);
}

TEST(CrossEntropy, bits_do_not_depend_on_passes) {
  Tensor targets = empty({8, 3}, {.dtype = DType::i64});
  for (std::int64_t i = 0; i < 24; ++i) {
    targets.data<std::int64_t>()[i] = i % 5 == 4 ? -100 : i % 7;
  }
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) { return cross_entropy(linear(x[0], p[0]), x[1]); },
      {numbers({7, 5}, 2, DType::f32)}, {numbers({8, 3, 5}, 1, DType::f32), targets});
}

TEST(CrossEntropy, names_row_and_class_of_a_wrong_target) {
  const Tensor targets = tensor<std::int64_t>({1, 4});
  try {
    static_cast<void>(cross_entropy(zeros({2, 4}), targets));
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(
        e.what(),
        "cross_entropy: target is no class; got 4 in row 1, expected 0 to 3 or ignore_index -100");
  }
}

}  // namespace
}  // namespace tessera
