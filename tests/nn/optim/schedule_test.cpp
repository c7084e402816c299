#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/base/error.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/constant_schedule.h>
#include <tessera/nn/optim/cosine_restarts_schedule.h>
#include <tessera/nn/optim/cosine_schedule.h>
#include <tessera/nn/optim/exponential_schedule.h>
#include <tessera/nn/optim/linear_schedule.h>
#include <tessera/nn/optim/multi_step_schedule.h>
#include <tessera/nn/optim/one_cycle_schedule.h>
#include <tessera/nn/optim/plateau_schedule.h>
#include <tessera/nn/optim/polynomial_schedule.h>
#include <tessera/nn/optim/sgd.h>
#include <tessera/nn/optim/step_schedule.h>

#include "nn/optim/model.h"

namespace tessera::optim {
namespace {

/// nanoGPT's get_lr, line by line.
double nanogpt(std::int64_t step, double lr, double min_lr, std::int64_t warmup,
               std::int64_t total) {
  if (step < warmup) {
    return lr * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  }
  if (step > total) {
    return min_lr;
  }
  const double ratio = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  return min_lr + 0.5 * (1.0 + std::cos(std::acos(-1.0) * ratio)) * (lr - min_lr);
}

TEST(Schedule, cosine_is_that_of_nanogpt) {
  const CosineSchedule schedule({.lr = 6e-4, .min_lr = 6e-5, .warmup = 10, .steps = 100});
  for (std::int64_t step = 0; step < 130; ++step) {
    EXPECT_NEAR(schedule.rate(step), nanogpt(step, 6e-4, 6e-5, 10, 100), 1e-18) << step;
  }
}

TEST(Schedule, linear_goes_straight_down) {
  const LinearSchedule schedule({.lr = 1, .min_lr = 0.5, .warmup = 4, .steps = 14});
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.2);
  EXPECT_DOUBLE_EQ(schedule.rate(3), 0.8);
  EXPECT_DOUBLE_EQ(schedule.rate(4), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(9), 0.75);
  EXPECT_DOUBLE_EQ(schedule.rate(14), 0.5);
  EXPECT_DOUBLE_EQ(schedule.rate(100), 0.5);
}

TEST(Schedule, constant_stays) {
  const ConstantSchedule schedule({.lr = 3, .warmup = 1});
  EXPECT_DOUBLE_EQ(schedule.rate(0), 1.5);
  EXPECT_DOUBLE_EQ(schedule.rate(1), 3);
  EXPECT_DOUBLE_EQ(schedule.rate(1000), 3);
}

TEST(Schedule, warmup_may_be_as_long_as_training) {
  const CosineSchedule schedule({.lr = 1, .min_lr = 0.1, .warmup = 3, .steps = 3});
  EXPECT_DOUBLE_EQ(schedule.rate(2), 0.75);
  EXPECT_DOUBLE_EQ(schedule.rate(3), 0.1);
}

TEST(Schedule, sets_the_rates_of_all_groups) {
  const auto model = nn::make<Model>();
  SGD optimizer({model->large});
  optimizer.add_group({model->small}, {});
  ExponentialSchedule schedule({.lr = 1, .gamma = 0.5});
  schedule.apply(1, optimizer);
  EXPECT_EQ(optimizer.lr(0), 0.5);
  EXPECT_EQ(optimizer.lr(1), 0.5);
  schedule.add_group(8);
  schedule.apply(2, optimizer);
  EXPECT_EQ(optimizer.lr(0), 0.25);
  EXPECT_EQ(optimizer.lr(1), 2);
  EXPECT_EQ(schedule.rate(2, 1), 2);
  schedule.add_group(1);
  EXPECT_THROW(schedule.apply(3, optimizer), ValueError);
  EXPECT_THROW(static_cast<void>(schedule.rate(0, 3)), ValueError);
  EXPECT_THROW(static_cast<void>(schedule.rate(-1)), ValueError);
}

TEST(Schedule, one_cycle_sets_momenta_too) {
  const auto model = nn::make<Model>();
  AdamW optimizer(model->parameters());
  const OneCycleSchedule schedule({.lr = 1, .steps = 11, .pct_start = 0.5});
  schedule.apply(0, optimizer);
  EXPECT_EQ(optimizer.options().beta1, 0.95);
  EXPECT_NEAR(optimizer.lr(), 0.04, 1e-15);
  OneCycleSchedule({.lr = 1, .steps = 11, .cycle_momentum = false}).apply(5, optimizer);
  EXPECT_EQ(optimizer.options().beta1, 0.95);
  EXPECT_DOUBLE_EQ(schedule.rate(10), 0.04 / 1e4);
  EXPECT_EQ(schedule.rate(1000), schedule.rate(10));
}

TEST(Schedule, plateau_goes_on_from_its_state_bit_for_bit) {
  const PlateauScheduleOptions options{.lr = 0.3, .factor = 0.7, .patience = 1, .cooldown = 2};
  const auto metric = [](int i) { return 1.0 / (1 + i % 5); };
  PlateauSchedule whole(options);
  whole.add_group(0.1);
  for (int i = 0; i < 9; ++i) {
    whole.see(metric(i));
  }
  PlateauSchedule resumed(options);
  resumed.add_group(0.1);
  resumed.load_state(whole.state());
  for (int i = 9; i < 40; ++i) {
    whole.see(metric(i));
    resumed.see(metric(i));
    EXPECT_EQ(whole.rate(i, 0), resumed.rate(i, 0)) << i;
    EXPECT_EQ(whole.rate(i, 1), resumed.rate(i, 1)) << i;
  }
  EXPECT_LT(whole.rate(40), 0.1);
  Schedule::State cut = whole.state();
  cut.pop_back();
  EXPECT_THROW(resumed.load_state(cut), ValueError);
  EXPECT_THROW(PlateauSchedule(options).load_state(whole.state()), ValueError);  // of two groups
  EXPECT_EQ(resumed.state(), whole.state());
  EXPECT_TRUE(StepSchedule({.step_size = 1}).state().empty());
}

TEST(Schedule, refuses_options_that_cannot_be_meant) {
  EXPECT_THROW(CosineSchedule({.lr = -1}), ValueError);
  EXPECT_THROW(CosineSchedule({.warmup = -1}), ValueError);
  EXPECT_THROW(LinearSchedule({.min_lr = -1}), ValueError);
  EXPECT_THROW(ConstantSchedule({.steps = -1}), ValueError);
  EXPECT_THROW(PolynomialSchedule({.steps = 1}, -1), ValueError);
  EXPECT_THROW(StepSchedule({}), ValueError);
  EXPECT_THROW(StepSchedule({.step_size = 1, .gamma = -1}), ValueError);
  EXPECT_THROW(MultiStepSchedule({.milestones = {3, -1}}), ValueError);
  EXPECT_THROW(ExponentialSchedule({.gamma = -1}), ValueError);
  EXPECT_THROW(CosineRestartsSchedule({}), ValueError);
  EXPECT_THROW(CosineRestartsSchedule({.t_0 = 1, .t_mult = 0}), ValueError);
  EXPECT_THROW(OneCycleSchedule({}), ValueError);
  EXPECT_THROW(OneCycleSchedule({.steps = 9, .pct_start = 1.5}), ValueError);
  EXPECT_THROW(OneCycleSchedule({.steps = 9, .div_factor = 0}), ValueError);
  EXPECT_THROW(OneCycleSchedule({.steps = 9, .final_div_factor = -1}), ValueError);
  EXPECT_THROW(OneCycleSchedule({.steps = 9, .base_momentum = -1}), ValueError);
  EXPECT_THROW(PlateauSchedule({.factor = 1}), ValueError);
  EXPECT_THROW(PlateauSchedule({.patience = -1}), ValueError);
  EXPECT_THROW(PlateauSchedule({.threshold = -1}), ValueError);
  EXPECT_THROW(PlateauSchedule({.cooldown = -1}), ValueError);
  EXPECT_THROW(PlateauSchedule({.eps = -1}), ValueError);
}

}  // namespace
}  // namespace tessera::optim
