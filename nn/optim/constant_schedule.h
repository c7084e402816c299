// The learning rate stays.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then always the highest rate.
class ConstantSchedule : public Schedule {
 public:
  using Schedule::Schedule;
  [[nodiscard]] std::string_view name() const override { return "constant"; }

 private:
  [[nodiscard]] double after_warmup(double part) const override;
};

}  // namespace tessera::optim
