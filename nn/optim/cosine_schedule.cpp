#include <tessera/nn/optim/cosine_schedule.h>

#include <cmath>
#include <numbers>

namespace tessera::optim {

double CosineSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  const double height = 0.5 * (1 + std::cos(std::numbers::pi * options().part(step)));
  return options().min_lr + height * (highest(group) - options().min_lr);
}

}  // namespace tessera::optim
