// The learning rate falls linearly.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then straight down to the lowest rate.
class LinearSchedule : public Schedule {
 public:
  using Schedule::Schedule;
  [[nodiscard]] std::string_view name() const override { return "linear"; }

 private:
  [[nodiscard]] double after_warmup(double part) const override;
};

}  // namespace tessera::optim
