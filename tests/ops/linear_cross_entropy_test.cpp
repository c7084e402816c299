#include <tessera/core/ops/linear_cross_entropy.h>

#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/embedding.h>
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

const InputSpec kHeadTargets = given({4}, {1, -100, 7, 0}, DType::i64);

const RegisterOpCase<LinearCrossEntropy> kLinearCrossEntropyCase{{
    .samples = {{.inputs = {real({4, 6}), real({8, 6}), kHeadTargets},
                 .attrs = {.label_smoothing = 0.1, .gradients = true, .expected = 0.5}},
                {.inputs = {real({2, 2, 6}), real({8, 6}), integers({2, 2}, 0, 8)}}},
    .wrong = {{.inputs = {real({4, 6}), real({8, 6}), integers({4}, 8, 9)}},
              {.inputs = {real({4, 6}), real({8, 6}), integers({3}, 0, 8)}},
              {.inputs = {real({4, 6}), real({8, 6}), real({4})}},
              {.inputs = {real({4, 6}), real({8, 5}), kHeadTargets}},
              {.inputs = {real({4, 6}), real({6}), kHeadTargets}},
              {.inputs = {integers({4, 6}, 0, 2), real({8, 6}), kHeadTargets}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = [](LinearCrossEntropyAttrs& attrs, DType dtype) { attrs.dtype = dtype; },
    .gradient_outputs = 1,
    .means_of_microbatches = {0, 1, 2},
}};

const RegisterOpCase<LinearCrossEntropyBackward> kLinearCrossEntropyBackwardCase{{
    .samples = {{.inputs = {real({}), real({4, 6}), real({8, 6}), kHeadTargets},
                 .attrs = {.head = {.label_smoothing = 0.1}}}},
    .wrong = {{.inputs = {real({2}), real({4, 6}), real({8, 6}), kHeadTargets}},
              {.inputs = {real({}), real({4, 6}), real({8, 5}), kHeadTargets}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = [](LinearCrossEntropyBackward::Attrs& attrs,
                    DType dtype) { attrs.head.dtype = dtype; },
}};

Tensor classes(const Shape& shape, std::int64_t count, bool ignore_some = true) {
  Tensor targets = empty(shape, {.dtype = DType::i64});
  for (std::int64_t i = 0; i < targets.numel(); ++i) {
    targets.data<std::int64_t>()[i] = ignore_some && i % 5 == 4 ? -100 : i * i % count;
  }
  return targets;
}

TEST(LinearCrossEntropy, equals_linear_and_cross_entropy) {
  const Tensor x = numbers({2, 5, 3}, 1);
  const Tensor weight = numbers({7, 3}, 2);
  const Tensor targets = classes({2, 5}, 7);
  const Tensor fused = linear_cross_entropy(x, weight, targets, {.label_smoothing = 0.1});
  const Tensor plain = cross_entropy(linear(x, weight), targets, {.label_smoothing = 0.1});
  EXPECT_DOUBLE_EQ(fused.item(), plain.item());
}

TEST(LinearCrossEntropy, gradients) {
  const Tensor targets = classes({2, 3}, 4);
  const Inputs inputs{numbers({2, 3, 5}, 1), numbers({4, 5}, 2)};
  const auto f = [&](const Inputs& x) {
    return linear_cross_entropy(x[0], x[1], targets, {.label_smoothing = 0.1});
  };
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
  // Scaled by a power of two, and by something else: handed on, and computed anew.
  expect_gradients([&](const Inputs& x) { return f(x) * -0.25; }, inputs);
  expect_gradients([&](const Inputs& x) { return f(x) * 0.3; }, inputs);
}

TEST(LinearCrossEntropy, only_what_is_asked_for_gets_gradients) {
  const Tensor targets = classes({3}, 4);
  Tensor x = numbers({3, 2}, 1).set_requires_grad(true);
  linear_cross_entropy(x, numbers({4, 2}, 2), targets).backward();
  EXPECT_TRUE(x.grad().defined());
  const NoGradGuard no_grad;
  EXPECT_FALSE(linear_cross_entropy(x, numbers({4, 2}, 2), targets).requires_grad());
}

TEST(LinearCrossEntropy, bits_do_not_depend_on_passes) {
  for (const double scale : {1.0, 0.5, 0.3}) {
    testing_support::expect_same_bits_for_all_passes(
        [&](const Inputs& p, const Inputs& x) {
          const Tensor factor = scalar(scale, {.dtype = DType::f32});
          return linear_cross_entropy(linear(x[0], p[0]), p[1], x[1]) * factor;
        },
        {numbers({4, 5}, 2, DType::f32), numbers({7, 4}, 3, DType::f32)},
        {numbers({8, 3, 5}, 1, DType::f32), classes({8, 3}, 7)});
  }
}

TEST(LinearCrossEntropy, bits_do_not_depend_on_passes_when_microbatches_have_several_blocks) {
  testing_support::expect_same_bits_for_all_passes(
      [&](const Inputs& p, const Inputs& x) { return linear_cross_entropy(x[0], p[0], x[1]); },
      {numbers({5, 2}, 3, DType::f32)},
      {numbers({4, 300, 2}, 1, DType::f32), classes({4, 300}, 5, false)}, 2);
}

TEST(LinearCrossEntropy, bits_do_not_depend_on_passes_for_shared_weights) {
  testing_support::expect_same_bits_for_all_passes(
      [&](const Inputs& p, const Inputs& x) {  // embedding, a dense use, and the head
        const Tensor h = linear(linear(embedding(p[0], x[0]), p[0]), p[1]);
        return linear_cross_entropy(h, p[0], x[1]);
      },
      {numbers({7, 4}, 2, DType::f32), numbers({4, 7}, 3, DType::f32)},
      {classes({8, 3}, 7, false), classes({8, 3}, 7)});
}

TEST(LinearCrossEntropy, bits_do_not_depend_on_passes_for_a_tied_embedding) {
  testing_support::expect_same_bits_for_all_passes(
      [&](const Inputs& p, const Inputs& x) {
        return linear_cross_entropy(embedding(p[0], x[0]), p[0], x[1]);
      },
      {numbers({7, 4}, 2, DType::f32)}, {classes({8, 3}, 7, false), classes({8, 3}, 7)});
}

/// Has one piece of memory, and notes where what backward brings lies, and what it is.
class LendingSink : public GradientSink {
 public:
  explicit LendingSink(Tensor memory) : memory_(std::move(memory)) {}
  Tensor destination(LeafNode&) override { return memory_; }
  Tensor early_destination(LeafNode&) override { return memory_; }
  void take_dense(LeafNode&, Tensor dense) override {
    in_place += dense.raw_data() == memory_.raw_data() ? 1 : 0;
    got.push_back(dense.to_vector<float>());
  }
  void complete(LeafNode&, SparseGradient) override {}
  int in_place = 0;
  std::vector<std::vector<float>> got;

 private:
  Tensor memory_;
};

TEST(LinearCrossEntropy, writes_the_gradient_of_the_weight_where_the_sink_says) {
  const Tensor weight = numbers({4, 2}, 2, DType::f32).set_requires_grad(true);
  const auto loss = [&](int seed) {
    return linear_cross_entropy(numbers({3, 2}, seed, DType::f32), weight, classes({3}, 4));
  };
  std::vector<std::vector<float>> expected;
  for (const int seed : {1, 2, 1}) {
    weight.set_grad({});
    loss(seed).backward();
    expected.push_back(weight.grad().to_vector<float>());
  }
  const auto sink = std::make_shared<LendingSink>(zeros({4, 2}));
  leaf_of(weight).sink = sink;
  const Tensor first = loss(1);
  const Tensor second = loss(2);  // writes over what the first has made
  backward(std::span(&first, 1), std::vector<Tensor>(1), {.keep_graph = true});
  second.backward();
  first.backward();
  EXPECT_EQ(sink->got, expected);
  EXPECT_EQ(sink->in_place, 3);
}

TEST(LinearCrossEntropy, autocast_keeps_the_loss_and_gradients_of_parameters_in_f32) {
  const AutocastScope autocast(DType::bf16);
  const Tensor x = numbers({3, 2}, 1, DType::bf16).set_requires_grad(true);
  const Tensor weight = numbers({4, 2}, 2, DType::f32).set_requires_grad(true);
  const Tensor loss = linear_cross_entropy(x, weight, classes({3}, 4));
  EXPECT_EQ(loss.dtype(), DType::f32);
  loss.backward();
  EXPECT_EQ(x.grad().dtype(), DType::bf16);
  EXPECT_EQ(weight.grad().dtype(), DType::f32);
}

/// The most bytes that a call without autograd holds at once, beside what was there before.
std::size_t peak_of_call(std::int64_t max_bytes) {
  const Tensor x = numbers({4096, 4}, 1, DType::f32);
  const Tensor weight = numbers({1024, 4}, 2, DType::f32);
  const Tensor targets = classes({4096}, 1024);
  reset_peak();
  const std::size_t before = memory_stats().current;
  static_cast<void>(call_all<LinearCrossEntropy>({x, weight, targets}, {.max_bytes = max_bytes}));
  return memory_stats().peak - before;
}

TEST(LinearCrossEntropy, holds_no_more_bytes_of_logits_than_it_is_told) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr std::size_t kBeside = kMiB / 2;        // losses, packed factors
  EXPECT_GE(peak_of_call(256 * kMiB), 16 * kMiB);  // all logits
  for (const std::size_t bound : {kMiB, 2 * kMiB, 8 * kMiB}) {
    EXPECT_GE(peak_of_call(bound), bound);
    EXPECT_LE(peak_of_call(bound), bound + kBeside);
  }
}

TEST(LinearCrossEntropy, names_what_does_not_fit) {
  const Tensor x = zeros({3, 2});
  const Tensor targets = zeros({3}, {.dtype = DType::i64});
  EXPECT_THROW(static_cast<void>(linear_cross_entropy(x, zeros({4, 3}), targets)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(linear_cross_entropy(x, zeros({4, 2}), zeros({3}))),
               InvalidArgument);
}

TEST(LinearCrossEntropy, names_row_and_class_of_a_wrong_target_in_any_part_of_the_rows) {
  constexpr std::int64_t kManyClasses = 1 << 18;  // so many that logits are held 256 rows at a time
  const Tensor targets = zeros({600}, {.dtype = DType::i64});
  targets.data<std::int64_t>()[555] = kManyClasses;
  try {
    static_cast<void>(linear_cross_entropy(zeros({600, 2}), zeros({kManyClasses, 2}), targets));
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(),
                 "linear_cross_entropy: target is no class; got 262144 in row 555, expected 0 to "
                 "262143 or ignore_index -100");
  }
}

}  // namespace
}  // namespace tessera
