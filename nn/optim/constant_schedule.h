// The learning rate stays.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then always the highest rate.
class ConstantSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit ConstantSchedule(const ScheduleOptions& options);

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override;

  ScheduleOptions options_;
};

}  // namespace tessera::optim
