#include <tessera/nn/optim/constant_schedule.h>
#include <tessera/nn/optim/cosine_schedule.h>
#include <tessera/nn/optim/linear_schedule.h>

#include "oracle/support/schedules.h"

namespace tessera::oracle {
namespace {

Schedule::Numbers constant(const Attributes& a, std::int64_t steps, const Node&) {
  const double lr = a.number("lr") * a.number("factor");
  return rates_of(optim::ConstantSchedule({.lr = lr, .steps = a.integer("total_iters")}), steps);
}

optim::ScheduleOptions cosine_options(const Attributes& a, std::int64_t warmup) {
  return {.lr = a.number("lr"),
          .min_lr = a.number("eta_min"),
          .warmup = warmup,
          .steps = warmup + a.integer("T_max")};
}

optim::ScheduleOptions linear_options(const Attributes& a, std::int64_t warmup) {
  const double lr = a.number("lr") * a.number("start_factor");
  return {.lr = lr,
          .min_lr = a.number("lr") * a.number("end_factor"),
          .warmup = warmup,
          .steps = warmup + a.integer("total_iters")};
}

Schedule::Numbers cosine(const Attributes& a, std::int64_t steps, const Node&) {
  return rates_of(optim::CosineSchedule(cosine_options(a, 0)), steps);
}

Schedule::Numbers linear(const Attributes& a, std::int64_t steps, const Node&) {
  return rates_of(optim::LinearSchedule(linear_options(a, 0)), steps);
}

Schedule::Numbers warmed(const Attributes& a, std::int64_t steps, const Node&) {
  const std::int64_t warmup = a.integer("warmup");
  if (a.text("after") == "LinearLR") {
    return rates_of(optim::LinearSchedule(linear_options(a, warmup)), steps);
  }
  return rates_of(optim::CosineSchedule(cosine_options(a, warmup)), steps);
}

const Counterparts<Schedule> kSchedules{{"ConstantLR", {constant}},
                                        {"CosineAnnealingLR", {cosine}},
                                        {"LinearLR", {linear}},
                                        {"SequentialLR", {warmed}}};

}  // namespace
}  // namespace tessera::oracle
