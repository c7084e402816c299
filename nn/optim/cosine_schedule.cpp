#include <tessera/nn/optim/cosine_schedule.h>

#include <cmath>
#include <numbers>

namespace tessera::optim {

double CosineSchedule::after_warmup(double part) const {
  const double height = 0.5 * (1 + std::cos(std::numbers::pi * part));
  return options().min_lr + height * (options().lr - options().min_lr);
}

}  // namespace tessera::optim
