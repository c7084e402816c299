#include <tessera/core/ops/random_like.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <tessera/core/ops/alpha_dropout.h>
#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/channel_dropout.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/transpose.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::numbers;

const RegisterOpCase<RandomLike> kRandomLikeCase{{
    .samples = {{.inputs = {real({4, 6})},
                 .attrs = {.draw = {.key = 7, .first_sample = 3, .samples = 4, .per_sample = 6}}},
                {.inputs = {real({8})},
                 .attrs = {.distribution = RandomLike::Distribution::normal,
                           .draw = {.key = 8, .samples = 8, .per_sample = 1}}}},
    .wrong = {{.inputs = {integers({4}, 0, 2)}}},
    .dtypes = {DType::f32, DType::f64},  // of 16 bits, uniform numbers are cut off: see below
    .set_microbatch =
        [](RandomLike::Attrs& attrs, int index, int count) {
          attrs.draw.samples /= count;
          attrs.draw.first_sample += index * attrs.draw.samples;
        },
}};

class RandomLikeTest : public ::testing::Test {
  ContextScope context_{std::make_shared<Context>()};
};

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

std::vector<double> squares(std::vector<double> x) {
  std::ranges::transform(x, x.begin(), [](double v) { return v * v; });
  return x;
}

TEST_F(RandomLikeTest, have_the_moments_of_their_distributions) {
  const Tensor x = zeros({100, 200}, {.dtype = DType::f64});
  const auto uniform = rand_like(x).to_vector<double>();
  EXPECT_NEAR(mean_of(uniform), 0.5, 0.01);
  EXPECT_NEAR(mean_of(squares(uniform)), 1.0 / 3, 0.01);
  const auto normal = randn_like(x).to_vector<double>();
  EXPECT_NEAR(mean_of(normal), 0, 0.03);
  EXPECT_NEAR(mean_of(squares(normal)), 1, 0.03);
  const auto coins = bernoulli(full_like(x, 0.3)).to_vector<double>();
  EXPECT_NEAR(mean_of(coins), 0.3, 0.015);
}

TEST_F(RandomLikeTest, uniform_numbers_are_below_one_in_every_dtype) {
  for (const DType dtype : kFloatDTypes) {
    const auto drawn = rand_like(zeros({20000}, {.dtype = dtype})).to_vector<double>();
    EXPECT_LT(std::ranges::max(drawn), 1) << dtype;
    EXPECT_GE(std::ranges::min(drawn), 0) << dtype;
  }
}

TEST_F(RandomLikeTest, bernoulli_is_sure_at_the_ends) {
  EXPECT_EQ(bernoulli(zeros({50})).to_vector<float>(), std::vector<float>(50, 0));
  EXPECT_EQ(bernoulli(ones({50})).to_vector<float>(), std::vector<float>(50, 1));
  EXPECT_FALSE(bernoulli(full({3}, 0.5).set_requires_grad(true)).requires_grad());
  EXPECT_THROW(static_cast<void>(bernoulli(zeros({3}, {.dtype = DType::i64}))), InvalidArgument);
}

TEST_F(RandomLikeTest, take_the_samples_of_x_in_another_shape) {
  Tensor x = zeros({8, 3});
  x.get().set_microbatches({.count = 4, .dim = 0});
  EXPECT_EQ(randn_like(x, {8, 64}).microbatches(), x.microbatches());
  EXPECT_EQ(randn_like(x, {8, 64}).shape(), (Shape{8, 64}));
  EXPECT_THROW(static_cast<void>(randn_like(x, {4, 64})), InvalidArgument);
}

TEST_F(RandomLikeTest, one_draw_for_all_samples_is_refused_in_a_step_of_several_microbatches) {
  static_cast<void>(rand({2}));
  Context::current().pass = {.grain = 4, .samples = 2};
  for (const char* name : {"rand", "randn"}) {
    try {
      static_cast<void>(name == std::string("rand") ? rand({2}) : randn({2}));
      ADD_FAILURE() << name << " went through";
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find(std::string(name) + "_like(x)"), std::string::npos);
    }
  }
  EXPECT_NO_THROW(static_cast<void>(randn({2}, {.device = {.type = DeviceType::meta}})));
  Context::current().pass.grain = 1;
  EXPECT_NO_THROW(static_cast<void>(randn({2})));
}

/// A function that draws; x is (samples, 4, 6).
using Draw = std::function<Tensor(const Tensor& x)>;

/// What `draw` makes of each microbatch of a batch of 8, `at_once` in a pass.
std::vector<std::vector<float>> drawn(const Draw& draw, int grain, int at_once) {
  const ContextScope context(std::make_shared<Context>());
  const Tensor batch = rand({8, 4, 6});
  const std::int64_t samples = 8 / grain;
  std::vector<std::vector<float>> result;
  for (int m = 0; m < grain; m += at_once) {
    Context::current().pass = {.grain = grain,
                               .first = m,
                               .count = at_once,
                               .first_sample = m * samples,
                               .samples = at_once * samples};
    const Tensor y = cast(
        draw(testing_support::rows_of(batch, m * samples, at_once * samples, at_once)), DType::f32);
    if (at_once == 1) {
      result.push_back(y.to_vector<float>());
      continue;
    }
    for (const Tensor& piece : unbind_microbatches(y)) {
      result.push_back(piece.to_vector<float>());
    }
  }
  return result;
}

Tensor attend(const Tensor& x) {
  const Tensor q = reshape(x, {-1, 2, 4, 3});
  return attention(q, q, q, {.dropout = 0.5});
}

/// Everything that draws in a forward: an op that does is one line more. `whole` ones draw for
/// something that no sample had a part in.
const std::vector<std::pair<const char*, Draw>> kDraws{
    {"rand_like", [](auto& x) { return rand_like(x); }},
    {"randn_like", [](auto& x) { return randn_like(x); }},
    {"randn_like of another shape",
     [](auto& x) {
       return randn_like(x, {x.size(0), 5});
     }},
    {"bernoulli", [](auto& x) { return bernoulli(x); }},
    {"dropout", [](auto& x) { return dropout(x, 0.5); }},
    {"dropout along dim 1", [](auto& x) { return dropout(transpose(x, 0, 1), 0.5); }},
    {"rand_like along dim 1", [](auto& x) { return rand_like(transpose(x, 0, 1)); }},
    {"channel_dropout", [](auto& x) { return channel_dropout(x, 0.5); }},
    {"alpha_dropout", [](auto& x) { return alpha_dropout(x, 0.5); }},
    {"attention", [](auto& x) { return attend(x); }},
    {"multinomial", [](auto& x) { return multinomial(x, 3); }},
    {"multinomial along dim 1", [](auto& x) { return multinomial(transpose(x, 0, 1), 3); }},
    {"whole rand_like",
     [](auto&) {
       return rand_like(zeros({4, 3}));
     }},
    {"whole bernoulli",
     [](auto&) {
       return bernoulli(full({4, 3}, 0.5));
     }},
    {"whole dropout",
     [](auto&) {
       return dropout(ones({4, 3}), 0.5);
     }},
    {"whole multinomial",
     [](auto&) {
       return multinomial(ones({4, 3}), 5);
     }},
    {"whole multinomial of one row", [](auto&) { return multinomial(ones({3}), 5); }},
};

TEST(Draws, do_not_depend_on_passes) {
  for (const auto& [name, draw] : kDraws) {
    for (const int grain : {2, 4, 8}) {
      const auto alone = drawn(draw, grain, 1);
      for (int at_once = 2; at_once <= grain; at_once *= 2) {
        EXPECT_EQ(drawn(draw, grain, at_once), alone) << name << ", " << at_once << " at once";
      }
    }
  }
}

TEST(Draws, differ_from_sample_to_sample) {
  for (const auto& [name, draw] : kDraws) {
    const auto each =
        drawn([&draw = draw](const Tensor& x) { return draw(ones_like(x) * 0.5); }, 4, 4);
    const std::string of_few = "whole multinomial of one row";
    for (std::size_t m = 1; name != of_few && m < each.size(); ++m) {
      EXPECT_NE(each[m], each[0]) << name;
    }
  }
}

TEST(Draws, attention_that_cannot_tell_samples_apart_is_refused) {
  const ContextScope context(std::make_shared<Context>());
  Context::current().pass = {.grain = 2, .count = 2, .samples = 4};
  Tensor q = rand_like(zeros({2, 4, 3, 4}));
  EXPECT_THROW(static_cast<void>(attention(q, q, q, {.dropout = 0.5})), Unsupported);
  q = zeros({2, 4, 3, 4});
  q.get().set_microbatches({.count = 2, .dim = 1});
  EXPECT_THROW(static_cast<void>(attention(q, q, q, {.dropout = 0.5})), Unsupported);
}

}  // namespace
}  // namespace tessera
