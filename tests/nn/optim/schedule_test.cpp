#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/base/error.h>
#include <tessera/nn/optim/constant_schedule.h>
#include <tessera/nn/optim/cosine_schedule.h>
#include <tessera/nn/optim/linear_schedule.h>

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

TEST(Schedule, refuses_negative_options) {
  EXPECT_THROW(CosineSchedule({.lr = -1}), InvalidArgument);
  EXPECT_THROW(CosineSchedule({.warmup = -1}), InvalidArgument);
}

}  // namespace
}  // namespace tessera::optim
