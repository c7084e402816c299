#include <tessera/nn/optim/step_schedule.h>

#include <cmath>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

StepSchedule::StepSchedule(const StepScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  check<ValueError>(options.step_size >= 1, "StepSchedule: step_size out of range; got ",
                    options.step_size, ", expected 1 or more");
  require_not_negative("StepSchedule", "gamma", options.gamma);
}

double StepSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  return highest(group) * std::pow(options_.gamma, static_cast<double>(step / options_.step_size));
}

}  // namespace tessera::optim
