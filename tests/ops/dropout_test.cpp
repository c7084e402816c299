#include <tessera/core/ops/dropout.h>

#include <gtest/gtest.h>

#include <tessera/core/base/module_path.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::Inputs;
using testing_support::numbers;

const RegisterOpCase<Dropout> kDropoutCase{{
    .samples = {{.inputs = {real({4, 6})},
                 .attrs = {.p = 0.4,
                           .draw = {.key = 7, .first_sample = 3, .samples = 4, .per_sample = 6}}},
                {.inputs = {real({8})},
                 .attrs = {.p = 0.75, .draw = {.key = 8, .samples = 8, .per_sample = 1}}}},
    .wrong = {{.inputs = {integers({4}, 0, 2)}, .attrs = {.p = 0.5}},
              {.inputs = {real({4})}, .attrs = {.p = 1.5}}},
    .set_microbatch =
        [](Dropout::Attrs& attrs, int index, int count) {
          attrs.draw.samples /= count;
          attrs.draw.first_sample += index * attrs.draw.samples;
        },
}};

std::vector<float> draw(double p = 0.5) {
  return dropout(ones({4, 8}), p).to_vector<float>();
}

class DropoutTest : public ::testing::Test {
  ContextScope context_{std::make_shared<Context>()};
};

TEST_F(DropoutTest, keeps_the_mean) {
  const std::vector<float> y = dropout(ones({100, 100}), 0.25).to_vector<float>();
  double sum = 0;
  for (const float value : y) {
    EXPECT_TRUE(value == 0 || value == 1 / 0.75F);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 1, 0.03);
}

TEST_F(DropoutTest, draws_differ_by_number_module_step_and_seed) {
  const std::vector<float> first = draw();
  EXPECT_NE(draw(), first);
  begin_random_pass();
  EXPECT_EQ(draw(), first);
  {
    const ModulePathScope module("block");
    EXPECT_NE(draw(), first);
  }
  Context::current().step = 1;
  EXPECT_NE(draw(), first);
  set_seed(1);
  EXPECT_NE(draw(), first);
  set_seed(0);
  EXPECT_EQ(draw(), first);
}

TEST_F(DropoutTest, a_seed_begins_the_draws_anew) {
  set_seed(3);
  const auto first = draw();
  EXPECT_NE(draw(), first);
  set_seed(3);
  EXPECT_EQ(draw(), first);
}

TEST_F(DropoutTest, recomputation_draws_the_same) {
  const RandomDraws before = Context::current().draws;
  const std::vector<float> first = draw();
  const std::vector<float> second = draw();
  {
    const RandomScope again(before);
    EXPECT_EQ(draw(), first);
  }
  EXPECT_NE(draw(), second);
}

TEST_F(DropoutTest, gradient_has_the_mask_of_the_forward) {
  const Tensor x = ones({4, 8}).set_requires_grad(true);
  const Tensor y = dropout(x, 0.5);
  sum_to(y, {}).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), y.to_vector<float>());
}

TEST_F(DropoutTest, extremes) {
  EXPECT_EQ(draw(0), std::vector<float>(32, 1));
  EXPECT_EQ(draw(1), std::vector<float>(32, 0));
  EXPECT_THROW(draw(1.5), InvalidArgument);
  EXPECT_THROW(draw(-0.5), InvalidArgument);
}

TEST_F(DropoutTest, bits_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        const Tensor h = dropout(x[0] * dropout(p[0], 0.25), 0.5);
        return testing_support::loss_of_samples(dropout(h, 0.25));
      },
      {numbers({6}, 2, DType::f32)}, {numbers({8, 3, 6}, 1, DType::f32)});
}

}  // namespace
}  // namespace tessera
