#include <tessera/nn/optim/linear_schedule.h>

namespace tessera::optim {

double LinearSchedule::after_warmup(double part) const {
  return options().lr + part * (options().min_lr - options().lr);
}

}  // namespace tessera::optim
