#include <gtest/gtest.h>

#include <tessera/nn/optim/constant_schedule.h>
#include <tessera/nn/optim/cosine_schedule.h>
#include <tessera/nn/optim/linear_schedule.h>

#include "oracle/support/schedules.h"

namespace tessera::oracle {
namespace {

Schedule::Numbers constant(const Attributes& a, std::int64_t steps, const Node&) {
  EXPECT_EQ(a.number("factor"), 1);
  optim::ConstantSchedule schedule(
      {.lr = lr_of(a), .warmup = warmup_of(a), .steps = warmup_of(a) + a.integer("total_iters")});
  return rates_of(schedule, a, steps);
}

Schedule::Numbers cosine(const Attributes& a, std::int64_t steps, const Node&) {
  optim::CosineSchedule schedule({.lr = lr_of(a),
                                  .min_lr = a.number("eta_min"),
                                  .warmup = warmup_of(a),
                                  .steps = warmup_of(a) + a.integer("T_max")});
  return rates_of(schedule, a, steps);
}

Schedule::Numbers linear(const Attributes& a, std::int64_t steps, const Node&) {
  EXPECT_EQ(a.number("start_factor"), 1);
  optim::LinearSchedule schedule({.lr = lr_of(a),
                                  .min_lr = lr_of(a) * a.number("end_factor"),
                                  .warmup = warmup_of(a),
                                  .steps = warmup_of(a) + a.integer("total_iters")});
  return rates_of(schedule, a, steps);
}

/// Any of them behind a warm-up.
Schedule::Numbers warmed(const Attributes& a, std::int64_t steps, const Node& values) {
  return Counterparts<Schedule>::all().at(a.text("after")).run(a, steps, values);
}

const Counterparts<Schedule> kSchedules{{"ConstantLR", {constant}},
                                        {"CosineAnnealingLR", {cosine}},
                                        {"LinearLR", {linear}},
                                        {"SequentialLR", {warmed}}};

}  // namespace
}  // namespace tessera::oracle
