#include <tessera/nn/optim/exponential_schedule.h>
#include <tessera/nn/optim/multi_step_schedule.h>
#include <tessera/nn/optim/polynomial_schedule.h>
#include <tessera/nn/optim/step_schedule.h>

#include "oracle/support/schedules.h"

namespace tessera::oracle {
namespace {

using Numbers = Schedule::Numbers;

Numbers step(const Attributes& a, std::int64_t steps, const Node&) {
  optim::StepSchedule schedule({.lr = lr_of(a),
                                .warmup = warmup_of(a),
                                .step_size = a.integer("step_size"),
                                .gamma = a.number("gamma", 0.1)});
  return rates_of(schedule, a, steps);
}

Numbers multi_step(const Attributes& a, std::int64_t steps, const Node&) {
  optim::MultiStepSchedule schedule({.lr = lr_of(a),
                                     .warmup = warmup_of(a),
                                     .milestones = a.integers("milestones"),
                                     .gamma = a.number("gamma", 0.1)});
  return rates_of(schedule, a, steps);
}

Numbers exponential(const Attributes& a, std::int64_t steps, const Node&) {
  optim::ExponentialSchedule schedule(
      {.lr = lr_of(a), .warmup = warmup_of(a), .gamma = a.number("gamma")});
  return rates_of(schedule, a, steps);
}

Numbers polynomial(const Attributes& a, std::int64_t steps, const Node&) {
  const std::int64_t warmup = warmup_of(a);
  const optim::ScheduleOptions options{
      .lr = lr_of(a), .warmup = warmup, .steps = warmup + a.integer("total_iters")};
  optim::PolynomialSchedule schedule(options, a.number("power", 1));
  return rates_of(schedule, a, steps);
}

const Counterparts<Schedule> kStepSchedules{{"StepLR", {step}},
                                            {"MultiStepLR", {multi_step}},
                                            {"ExponentialLR", {exponential}},
                                            {"PolynomialLR", {polynomial}}};

}  // namespace
}  // namespace tessera::oracle
