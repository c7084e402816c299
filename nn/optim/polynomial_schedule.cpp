#include <tessera/nn/optim/polynomial_schedule.h>

#include <cmath>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

PolynomialSchedule::PolynomialSchedule(const ScheduleOptions& options, double power)
    : EndingSchedule(options), power_(power) {
  require_not_negative("PolynomialSchedule", "power", power);
}

double PolynomialSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  const double height = std::pow(1 - options().part(step), power_);
  return options().min_lr + height * (highest(group) - options().min_lr);
}

}  // namespace tessera::optim
