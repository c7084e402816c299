#include <tessera/nn/optim/polynomial_schedule.h>

#include <cmath>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

PolynomialSchedule::PolynomialSchedule(const ScheduleOptions& options, double power)
    : Schedule(options.lr, options.warmup), options_(options), power_(power) {
  options.validate();
  require_not_negative("PolynomialSchedule", "power", power);
}

double PolynomialSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  const double height = std::pow(1 - options_.part(step), power_);
  return options_.min_lr + height * (highest(group) - options_.min_lr);
}

}  // namespace tessera::optim
