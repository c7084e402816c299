// The learning rate falls in equal steps.
#pragma once

#include <cmath>

#include <tessera/nn/optim/option_checks.h>
#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

struct StepScheduleOptions {
  double lr = 1e-3;            ///< the highest learning rate
  std::int64_t warmup = 0;     ///< steps before the highest
  std::int64_t step_size = 0;  ///< steps between two changes; must be given
  double gamma = 0.1;
};

/// Warm-up, then a rate that is multiplied with gamma after every `step_size` steps, as PyTorch's
/// StepLR has it.
class StepSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit StepSchedule(const StepScheduleOptions& options)
      : Schedule(options.lr, options.warmup), options_(options) {
    check<ValueError>(options.step_size >= 1, "StepSchedule: step_size out of range; got ",
                      options.step_size, ", expected 1 or more");
    require_not_negative("StepSchedule", "gamma", options.gamma);
  }

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override {
    return highest(group) *
           std::pow(options_.gamma, static_cast<double>(step / options_.step_size));
  }

  StepScheduleOptions options_;
};

}  // namespace tessera::optim
