#include <tessera/nn/optim/linear_schedule.h>

namespace tessera::optim {

LinearSchedule::LinearSchedule(const ScheduleOptions& options)
    : Schedule(options.lr, options.warmup), options_(options) {
  options.validate();
}

double LinearSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  return highest(group) + options_.part(step) * (options_.min_lr - highest(group));
}

}  // namespace tessera::optim
