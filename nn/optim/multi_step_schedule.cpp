#include <tessera/nn/optim/multi_step_schedule.h>

#include <algorithm>
#include <cmath>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

MultiStepSchedule::MultiStepSchedule(const MultiStepScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  for (const std::int64_t milestone : options.milestones) {
    require_not_negative("MultiStepSchedule", "milestone", static_cast<double>(milestone));
  }
  require_not_negative("MultiStepSchedule", "gamma", options.gamma);
}

double MultiStepSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  const auto passed = std::ranges::count_if(
      options_.milestones, [&](std::int64_t milestone) { return milestone <= step; });
  return highest(group) * std::pow(options_.gamma, static_cast<double>(passed));
}

}  // namespace tessera::optim
