#include <tessera/core/ops/microbatches.h>

#include <gtest/gtest.h>

#include <tessera/core/base/module_path.h>
#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "ops/gradients.h"
#include "support/error_of.h"
#include "support/op_case.h"
#include "support/op_tools.h"

namespace tessera {
namespace {

using testing_support::error_of;

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Function;
using testing_support::Inputs;
using testing_support::numbers;

const InputSpec kStacked = real({4, 3}).in_microbatches(4, 0, true);

const RegisterOpCase<UnbindMicrobatches> kUnbindMicrobatchesCase{{
    .samples = {{.inputs = {real({4, 6}).in_microbatches(2, 1)}}, {.inputs = {kStacked}}},
    .wrong = {{.inputs = {real({4, 6})}}},
    .dtypes = kAllDTypes,
    .gradient = false,  // leaves hold no microbatches: see the tests below
}};

const RegisterOpCase<JoinMicrobatches> kJoinMicrobatchesCase{{
    .samples = {{.inputs = {real({4, 3}), real({4, 3})}, .attrs = {.dim = 1}},
                {.inputs = {real({3}), real({3}), real({3}), real({3})}}},
    .wrong = {{.inputs = {real({4, 3}), real({3})}, .attrs = {.dim = 0}},
              {.inputs = {real({3}), integers({3}, 0, 2)}},
              {.inputs = {real({3}), real({3})}, .attrs = {.dim = 1}}},
    .dtypes = kAllDTypes,
    .second_gradient = SecondGradient::unchecked,  // nor do seeds that are leaves
}};

const RegisterOpCase<SumMicrobatches> kSumMicrobatchesCase{{
    .samples = {{.inputs = {kStacked}}},
    .wrong = {{.inputs = {real({4, 3})}}},
    .dtypes = kAllDTypes,
    .tolerance = {.of_largest = 2},
    .gradient = false,
}};

const RegisterOpCase<RepeatMicrobatches> kRepeatMicrobatchesCase{{
    .samples = {{.inputs = {real({4, 3})}, .attrs = {.count = 2}}},
    .wrong = {{.inputs = {real({3})}, .attrs = {.count = 0}}},
    .dtypes = kAllDTypes,
    .second_gradient = SecondGradient::unchecked,
}};

const RegisterOpCase<AsMicrobatches> kAsMicrobatchesCase{{
    .samples = {{.inputs = {real({4, 6})}, .attrs = {.count = 2, .dim = 1}}},
    .wrong = {{.inputs = {real({4, 6})}, .attrs = {.count = 3}},
              {.inputs = {real({4})}, .attrs = {.count = 2, .dim = 1}},
              {.inputs = {real({4, 6}).in_microbatches(2, 1)}, .attrs = {.count = 2}}},
    .dtypes = kAllDTypes,
    .second_gradient = SecondGradient::unchecked,
}};

TEST(Microbatches, pieces_lie_where_they_were) {
  Tensor x = from_values<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  x.get().set_microbatches({.count = 2, .dim = 1});
  const Outputs pieces = unbind_microbatches(x);
  EXPECT_EQ(pieces[0].to_vector<float>(), (std::vector<float>{1, 2, 5, 6}));
  EXPECT_EQ(pieces[1].to_vector<float>(), (std::vector<float>{3, 4, 7, 8}));
  const Tensor joined = join_microbatches({{pieces[0], pieces[1]}}, 1);
  EXPECT_EQ(joined.to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(joined.microbatches(), x.microbatches());
}

TEST(Microbatches, gradients_pass_borders) {
  const auto apart = [](const Inputs& x) {
    const Outputs pieces = unbind_microbatches(repeat_microbatches(x[0], 2));
    return pieces[0] * x[1] + pieces[1] * pieces[1];
  };
  const auto joined = [](const Inputs& x) {
    const Outputs pieces = unbind_microbatches(join_microbatches({{x[0], x[1]}}, 0));
    return pieces[0] * pieces[1] * pieces[0];
  };
  const auto summed = [](const Inputs& x) {
    return sum_microbatches(repeat_microbatches(x[0] * x[1], 4));
  };
  const Inputs inputs{numbers({2, 3}, 1), numbers({2, 3}, 2)};
  for (const Function& f : {Function(apart), Function(joined), Function(summed)}) {
    expect_gradients(f, inputs);
    expect_second_gradients(f, inputs);
  }
}

TEST(Microbatches, are_added_along_a_tree) {
  constexpr float kTiny = 0x1p-24F;  // two of them move 1, one does not
  Tensor x = from_values<float>({1, kTiny, kTiny, kTiny}, {4});
  x.get().set_microbatches({.count = 4, .dim = 0, .per_microbatch = true});
  EXPECT_EQ(sum_microbatches(x).item<float>(), 1 + 2 * kTiny);
}

Tensor in_two(const Shape& shape, bool stacked = false) {
  Tensor x = zeros(shape);
  x.get().set_microbatches({.count = 2, .dim = 0, .per_microbatch = stacked});
  return x;
}

template <class F>
std::string unsupported(const F& call) {
  const ModulePathScope head("head");
  return error_of<Unsupported>(call);
}

TEST(Microbatches, what_takes_one_pass_apart_names_op_module_and_way_out) {
  const std::string way_out =
      " in module head; several microbatches cannot run in one pass; in LoaderOptions, grain = 1 "
      "makes "
      "the batch one microbatch, and at_once = 1 runs them one by one, each without the samples of "
      "the others";
  const Tensor base = zeros({3, 4});
  EXPECT_EQ(unsupported([&] { return select(base, 0, 1).copy_(in_two({4})); }),
            "copy: writes several microbatches into memory that other tensors show" + way_out);
  EXPECT_FALSE(base.microbatches());
  const Tensor targets = zeros({4}, {.dtype = DType::i64});
  EXPECT_EQ(unsupported([&] {
              return linear_cross_entropy(in_two({4, 4}), base, targets);
            }),
            "linear_cross_entropy: needs x and targets cut alike along one of their dims, and the "
            "weight whole" +
                way_out);
  const Tensor x = in_two({2, 3});
  EXPECT_EQ(unsupported([&] { return reshape(x, {3, 2}); }), "reshape: mixes samples" + way_out);
  const std::string mask = "index: chooses by a mask that depends on the samples" + way_out;
  EXPECT_EQ(unsupported([&] { return index(x, {x > 0}); }), mask);
  EXPECT_EQ(unsupported([&] { return index(base, {in_two({2, 3}, true) > 0}); }), mask);
  const Tensor q = in_two({2, 2, 3, 4}, true);
  EXPECT_EQ(unsupported([&] { return attention(q, q, q, {.dropout = 0.5}); }),
            "attention: needs the samples in dim 0 for dropout" + way_out);
}

TEST(Microbatches, the_only_sample_may_be_taken_by_steps) {
  const Tensor leaf = as_microbatches(zeros({1, 3}), 1, 0).set_requires_grad(true);
  sum(slice(leaf, 0, 0, 1, 2)).backward();
  expect_same_bits(leaf.grad(), ones({1, 3}), "gradient");
}

}  // namespace
}  // namespace tessera
