#include <tessera/nn/optim/exponential_schedule.h>
#include <tessera/nn/optim/multi_step_schedule.h>
#include <tessera/nn/optim/polynomial_schedule.h>
#include <tessera/nn/optim/step_schedule.h>

#include "oracle/support/schedules.h"

namespace tessera::oracle {
namespace {

using Numbers = Schedule::Numbers;

Numbers step(const Attributes& a, std::int64_t steps, const Node&) {
  const optim::StepSchedule schedule(
      {.lr = a.number("lr"), .step_size = a.integer("step_size"), .gamma = a.number("gamma", 0.1)});
  return rates_of(schedule, steps);
}

Numbers multi_step(const Attributes& a, std::int64_t steps, const Node&) {
  const optim::MultiStepSchedule schedule({.lr = a.number("lr"),
                                           .milestones = a.integers("milestones"),
                                           .gamma = a.number("gamma", 0.1)});
  return rates_of(schedule, steps);
}

Numbers exponential(const Attributes& a, std::int64_t steps, const Node&) {
  const optim::ExponentialSchedule schedule({.lr = a.number("lr"), .gamma = a.number("gamma")});
  return rates_of(schedule, steps);
}

Numbers polynomial(const Attributes& a, std::int64_t steps, const Node&) {
  const optim::ScheduleOptions options{.lr = a.number("lr"), .steps = a.integer("total_iters")};
  return rates_of(optim::PolynomialSchedule(options, a.number("power", 1)), steps);
}

const Counterparts<Schedule> kSchedules{{"StepLR", {step}},
                                        {"MultiStepLR", {multi_step}},
                                        {"ExponentialLR", {exponential}},
                                        {"PolynomialLR", {polynomial}}};

}  // namespace
}  // namespace tessera::oracle
