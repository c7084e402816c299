#include <tessera/nn/optim/constant_schedule.h>

namespace tessera::optim {

double ConstantSchedule::after_warmup(double /*part*/) const {
  return options().lr;
}

}  // namespace tessera::optim
