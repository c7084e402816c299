#include <tessera/nn/optim/exponential_schedule.h>

#include <cmath>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

ExponentialSchedule::ExponentialSchedule(const ExponentialScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  require_not_negative("ExponentialSchedule", "gamma", options.gamma);
}

double ExponentialSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  return highest(group) * std::pow(options_.gamma, static_cast<double>(step));
}

}  // namespace tessera::optim
