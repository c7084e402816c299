#include <tessera/nn/optim/plateau_schedule.h>

#include "oracle/support/schedules.h"

namespace tessera::oracle {
namespace {

optim::PlateauScheduleOptions plateau_options(const Attributes& a) {
  using Options = optim::PlateauScheduleOptions;
  const bool absolute = a.text("threshold_mode", "rel") == "abs";
  return {.lr = lr_of(a),
          .min_lr = a.number("min_lr", 0),
          .mode = a.text("mode", "min") == "max" ? Options::Mode::max : Options::Mode::min,
          .factor = a.number("factor", 0.1),
          .patience = a.integer("patience", 10),
          .threshold = a.number("threshold", 1e-4),
          .threshold_mode = absolute ? Options::ThresholdMode::abs : Options::ThresholdMode::rel,
          .cooldown = a.integer("cooldown", 0),
          .eps = a.number("eps", 1e-8)};
}

Schedule::Numbers plateau(const Attributes& a, std::int64_t steps, const Node& values) {
  optim::PlateauSchedule schedule(plateau_options(a));
  const auto metrics = values["metrics"].values.to_vector<double>();
  return rates_of(schedule, a, steps, "lr", [&](std::int64_t step) {
    schedule.see(metrics.at(static_cast<std::size_t>(step)));
  });
}

const Counterparts<Schedule> kPlateauSchedules{{"ReduceLROnPlateau", {plateau}}};

}  // namespace
}  // namespace tessera::oracle
