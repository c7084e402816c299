#include <tessera/nn/optim/cosine_schedule.h>

#include <cmath>
#include <numbers>

namespace tessera::optim {

CosineSchedule::CosineSchedule(const ScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  options.validate();
}

double CosineSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  const double height = 0.5 * (1 + std::cos(std::numbers::pi * options_.part(step)));
  return options_.min_lr + height * (highest(group) - options_.min_lr);
}

}  // namespace tessera::optim
