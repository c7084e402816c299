// The learning rate stays.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then always the highest rate.
class ConstantSchedule : public EndingSchedule {
 public:
  using EndingSchedule::EndingSchedule;

 private:
  [[nodiscard]] double after_warmup(std::int64_t /*step*/, std::size_t group) const override {
    return highest(group);
  }
};

}  // namespace tessera::optim
