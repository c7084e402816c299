#include <tessera/nn/optim/cosine_restarts_schedule.h>
#include <tessera/nn/optim/one_cycle_schedule.h>

#include "oracle/support/schedules.h"

namespace tessera::oracle {
namespace {

Schedule::Numbers restarts(const Attributes& a, std::int64_t steps, const Node&) {
  optim::CosineRestartsSchedule schedule({.lr = lr_of(a),
                                          .min_lr = a.number("eta_min", 0),
                                          .warmup = warmup_of(a),
                                          .t_0 = a.integer("T_0"),
                                          .t_mult = a.integer("T_mult", 1)});
  return rates_of(schedule, a, steps);
}

optim::OneCycleScheduleOptions one_cycle_options(const Attributes& a) {
  const bool linear = a.text("anneal_strategy", "cos") == "linear";
  return {.lr = lr_of(a, "max_lr"),
          .steps = a.integer("total_steps"),
          .pct_start = a.number("pct_start", 0.3),
          .anneal_strategy = linear ? optim::Anneal::linear : optim::Anneal::cosine,
          .cycle_momentum = a.flag("cycle_momentum", true),
          .base_momentum = a.number("base_momentum", 0.85),
          .max_momentum = a.number("max_momentum", 0.95),
          .div_factor = a.number("div_factor", 25),
          .final_div_factor = a.number("final_div_factor", 1e4),
          .three_phase = a.flag("three_phase", false)};
}

Schedule::Numbers one_cycle(const Attributes& a, std::int64_t steps, const Node&) {
  optim::OneCycleSchedule schedule(one_cycle_options(a));
  Schedule::Numbers numbers = rates_of(schedule, a, steps, "max_lr");
  for (std::int64_t step = 0; step < steps; ++step) {
    numbers["momentum"].push_back(schedule.momentum(step));
  }
  return numbers;
}

const Counterparts<Schedule> kCycledSchedules{{"CosineAnnealingWarmRestarts", {restarts}},
                                              {"OneCycleLR", {one_cycle}}};

}  // namespace
}  // namespace tessera::oracle
