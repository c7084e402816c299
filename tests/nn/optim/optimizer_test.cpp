#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/sgd.h>

#include "nn/optim/model.h"

namespace tessera::optim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Optimizer, norm_is_that_of_all_gradients) {
  const auto model = nn::make<Model>();
  SGD optimizer(model->parameters(), {.lr = 0});
  set_gradients(*model, 1);
  double sum = 0;
  for (const nn::Parameter& parameter : {model->large, model->small}) {
    for (const float x : parameter.grad().to_vector<float>()) {
      sum += double{x} * x;
    }
  }
  optimizer.step();
  EXPECT_NEAR(optimizer.gradient_norm(), std::sqrt(sum), 1e-12 * std::sqrt(sum));
}

TEST(Optimizer, clips_by_the_norm_of_all_gradients) {
  const auto model = nn::make<Model>();
  model->load_state_dict(
      {{"large", zeros({1000, 257})}, {"small", zeros({5})}, {"unused", zeros({3})}});
  SGD optimizer(model->parameters(), {.lr = 1});
  optimizer.clip_grad_norm(2.5);
  model->small.value().set_grad(tensor<float>({0, 3, 0, -4, 0}));
  EXPECT_EQ(optimizer.step().gradient_norm, 5);
  const auto after = model->small.value().to_vector<float>();
  EXPECT_NEAR(after[1], -1.5, 1e-6);
  EXPECT_NEAR(after[3], 2, 1e-6);
  model->small.value().set_grad(tensor<float>({1, 0, 0, 0, 0}));  // below the limit: as it is
  optimizer.step();
  EXPECT_EQ(model->small.value().to_vector<float>()[0], -1);
  EXPECT_THROW(optimizer.clip_grad_norm(-1), InvalidArgument);
}

TEST(Optimizer, leaves_parameters_without_gradient_alone) {
  const auto model = nn::make<Model>();
  const auto before = values_of(*model);
  AdamW optimizer(model->parameters(), {.lr = 0.1, .weight_decay = 0.5});
  set_gradients(*model, 1);
  optimizer.step();
  EXPECT_EQ(values_of(*model)[2], before[2]);
  EXPECT_NE(values_of(*model)[1], before[1]);
  EXPECT_EQ(optimizer.state().tensors.size(), 4U);
}

TEST(Optimizer, skips_a_step_in_which_nothing_counted_unless_gradients_were_set) {
  const auto model = nn::make<nn::Linear>(2, 3);
  const auto before = values_of(*model);
  AdamW optimizer(model->parameters(), {.lr = 0.1, .weight_decay = 0.5});
  const auto backward = [&] {
    nn::cross_entropy_loss(model(ones({2, 2})), tensor<std::int64_t>({-100, -100})).backward();
  };
  backward();
  EXPECT_TRUE(optimizer.step().skipped);
  EXPECT_EQ(values_of(*model), before);
  backward();
  for (const nn::Parameter& parameter : model->parameters()) {
    parameter.value().set_grad(ones(parameter.shape()));
  }
  EXPECT_FALSE(optimizer.step().skipped);
  EXPECT_NE(values_of(*model)[0], before[0]);
  EXPECT_NE(values_of(*model)[1], before[1]);
}

TEST(Optimizer, waits_for_the_last_pass) {
  const auto model = nn::make<Model>();
  const auto before = values_of(*model);
  SGD optimizer(model->parameters(), {.lr = 0.1});
  set_gradients(*model, 1);
  Context::current().pass.last = false;
  EXPECT_FALSE(optimizer.step().ended);
  EXPECT_EQ(values_of(*model), before);
  EXPECT_TRUE(model->large.grad().defined());
  Context::current().pass.last = true;
  EXPECT_TRUE(optimizer.step().ended);
  EXPECT_NE(values_of(*model), before);
}

TEST(Optimizer, counts_steps_where_no_loader_does) {
  set_seed(1);
  const auto model = nn::make<Model>();
  SGD optimizer(model->parameters());
  optimizer.step();
  EXPECT_EQ(Context::current().step, 1U);
  Context::current().pass.samples = 4;
  optimizer.step();
  EXPECT_EQ(Context::current().step, 1U);
  Context::current().pass = {};
}

TEST(Optimizer, stops_or_skips_where_gradients_are_not_finite) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    set_seed(1);
    const auto model = nn::make<Model>();
    AdamW optimizer(model->parameters());
    const auto before = values_of(*model);
    set_gradients(*model, 1);
    model->large.value().set_grad(full({1000, 257}, bad));  // backward comes to it later
    model->small.value().set_grad(tensor<float>({0, bad, 0, 0, 0}));
    try {
      optimizer.step();
      FAIL();
    } catch (const NonFiniteGradient& error) {
      EXPECT_THAT(error.what(), HasSubstr("in step 1; first in small"));
    }
    EXPECT_EQ(values_of(*model), before);
    optimizer.on_non_finite(NonFinite::skip);
    const StepResult result = optimizer.step();
    EXPECT_TRUE(result.skipped);
    EXPECT_THAT(result.reason, HasSubstr("first in small"));
    EXPECT_EQ(result.parameter, "small");
    EXPECT_EQ(values_of(*model), before);
    EXPECT_FALSE(model->large.grad().defined());
    EXPECT_EQ(optimizer.steps(), 0);
  }
}

TEST(Optimizer, large_gradients_do_not_overflow_the_norm) {
  const auto model = nn::make<Model>();
  SGD optimizer(model->parameters(), {.lr = 0});
  model->small.value().set_grad(full({5}, 3e38));
  EXPECT_NEAR(optimizer.step().gradient_norm, 3e38 * std::sqrt(5.0), 1e32);
}

TEST(Optimizer, refuses_rates_that_cannot_be_meant) {
  const auto model = nn::make<Model>();
  AdamW optimizer(model->parameters(), {.lr = 0.25});
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(optimizer.set_lr(wrong), ValueError);
    EXPECT_THROW(optimizer.set_lr(0, wrong), ValueError);
  }
  EXPECT_EQ(optimizer.lr(), 0.25);
}

TEST(Optimizer, groups_have_options_of_their_own) {
  const auto model = nn::make<Model>();
  AdamW made;
  AdamW optimizer = std::move(made);
  optimizer.add_group({model->large}, {.lr = 0.1, .weight_decay = 0.1});
  optimizer.add_group({model->small}, {.lr = 0.2, .weight_decay = 0});
  EXPECT_EQ(optimizer.lr(1), 0.2);
  optimizer.set_lr(0.3);
  EXPECT_EQ(optimizer.lr(0), 0.3);
  EXPECT_EQ(optimizer.options(0).weight_decay, 0.1);
}

TEST(Optimizer, refuses_parameters_it_has_and_stays_as_it_was) {
  const auto model = nn::make<Model>();
  AdamW optimizer({model->large});
  EXPECT_THROW(optimizer.add_group({model->small, model->large}, {}), ValueError);
  EXPECT_THROW(optimizer.add_group({model->small, model->small}, {}), ValueError);
  EXPECT_THROW(optimizer.add_group({model->small}, {.beta1 = 1}), ValueError);
  EXPECT_EQ(optimizer.group_count(), 1U);
  optimizer.add_group({model->small}, {});
  set_gradients(*model, 1);
  optimizer.step();
  EXPECT_EQ(optimizer.group_count(), 2U);
}

TEST(Optimizer, updates_parameters_of_16_bits) {
  struct Half : nn::Module {
    nn::Parameter w{this, "w", {4}, nn::init::normal(0, 1), DType::bf16};
  };
  const auto model = nn::make<Half>();
  const auto before = model->w.value().to_vector<float>();
  AdamW optimizer(model->parameters(), {.lr = 0.25, .weight_decay = 0});
  model->w.value().set_grad(full({4}, 1, {.dtype = DType::bf16}));
  EXPECT_EQ(optimizer.step().gradient_norm, 2);
  const auto after = model->w.value().to_vector<float>();
  for (std::size_t i = 0; i < before.size(); ++i) {  // the first step is as long as the rate
    EXPECT_NEAR(after[i], before[i] - 0.25F, 0.01F);
  }
  EXPECT_EQ(optimizer.state().tensors[0].second.dtype(), DType::bf16);
}

TEST(Optimizer, sets_the_momentum_of_all_groups) {
  const auto model = nn::make<Model>();
  AdamW adamw({model->large});
  adamw.add_group({model->small}, {});
  adamw.set_momentum(0.5);
  EXPECT_EQ(adamw.options(0).beta1, 0.5);
  EXPECT_EQ(adamw.options(1).beta1, 0.5);
  EXPECT_THROW(adamw.set_momentum(1), ValueError);
  SGD sgd(model->parameters());
  sgd.set_momentum(0.5);
  for (std::uint64_t step = 0; step < 2; ++step) {  // a momentum that comes and goes
    set_gradients(*model, step);
    sgd.step();
    sgd.set_momentum(0);
  }
  EXPECT_TRUE(sgd.state().tensors.empty());
}

}  // namespace
}  // namespace tessera::optim
