// The learning rate falls linearly.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then straight down to the lowest rate.
class LinearSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit LinearSchedule(const ScheduleOptions& options);

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override;

  ScheduleOptions options_;
};

}  // namespace tessera::optim
