#include <tessera/nn/optim/cosine_restarts_schedule.h>

#include <cmath>
#include <numbers>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

CosineRestartsSchedule::CosineRestartsSchedule(const CosineRestartsScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  require_not_negative("CosineRestartsSchedule", "min_lr", options.min_lr);
  check<ValueError>(options.t_0 >= 1, "CosineRestartsSchedule: t_0 out of range; got ", options.t_0,
                    ", expected 1 or more");
  check<ValueError>(options.t_mult >= 1, "CosineRestartsSchedule: t_mult out of range; got ",
                    options.t_mult, ", expected 1 or more");
}

double CosineRestartsSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  std::int64_t length = options_.t_0;
  if (options_.t_mult == 1) {
    step %= length;
  }
  while (step >= length) {
    step -= length;
    length *= options_.t_mult;
  }
  const double part = static_cast<double>(step) / static_cast<double>(length);
  const double height = 0.5 * (1 + std::cos(std::numbers::pi * part));
  return options_.min_lr + height * (highest(group) - options_.min_lr);
}

}  // namespace tessera::optim
