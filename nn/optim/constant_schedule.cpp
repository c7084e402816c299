#include <tessera/nn/optim/constant_schedule.h>

namespace tessera::optim {

ConstantSchedule::ConstantSchedule(const ScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  options.validate();
}

double ConstantSchedule::after_warmup(std::int64_t /*step*/, std::size_t group) const {
  return highest(group);
}

}  // namespace tessera::optim
