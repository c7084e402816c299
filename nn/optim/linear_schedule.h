// The learning rate falls linearly.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then straight down to the lowest rate.
class LinearSchedule : public EndingSchedule {
 public:
  using EndingSchedule::EndingSchedule;

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override {
    return highest(group) + options().part(step) * (options().min_lr - highest(group));
  }
};

}  // namespace tessera::optim
