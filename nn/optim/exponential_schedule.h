// The learning rate falls by the same factor in every step.
#pragma once

#include <cmath>

#include <tessera/nn/optim/option_checks.h>
#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

struct ExponentialScheduleOptions {
  double lr = 1e-3;         ///< the highest learning rate
  std::int64_t warmup = 0;  ///< steps before the highest
  double gamma = 1;
};

/// Warm-up, then a rate that is multiplied with gamma after every step, as PyTorch's ExponentialLR
/// has it.
class ExponentialSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit ExponentialSchedule(const ExponentialScheduleOptions& options)
      : Schedule(options.lr, options.warmup), options_(options) {
    require_not_negative("ExponentialSchedule", "gamma", options.gamma);
  }

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override {
    return highest(group) * std::pow(options_.gamma, static_cast<double>(step));
  }

  ExponentialScheduleOptions options_;
};

}  // namespace tessera::optim
