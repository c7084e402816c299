// The learning rate falls at given steps.
#pragma once

#include <algorithm>
#include <cmath>

#include <tessera/nn/optim/option_checks.h>
#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

struct MultiStepScheduleOptions {
  double lr = 1e-3;         ///< the highest learning rate
  std::int64_t warmup = 0;  ///< steps before the highest
  std::vector<std::int64_t> milestones{};
  double gamma = 0.1;
};

/// Warm-up, then a rate that is multiplied with gamma at every milestone, as PyTorch's MultiStepLR
/// has it. Milestones count from the end of the warm-up.
class MultiStepSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit MultiStepSchedule(const MultiStepScheduleOptions& options)
      : Schedule(options.lr, options.warmup), options_(options) {
    for (const std::int64_t milestone : options.milestones) {
      require_not_negative("MultiStepSchedule", "milestone", static_cast<double>(milestone));
    }
    require_not_negative("MultiStepSchedule", "gamma", options.gamma);
  }

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override {
    const auto passed = std::ranges::count_if(
        options_.milestones, [&](std::int64_t milestone) { return milestone <= step; });
    return highest(group) * std::pow(options_.gamma, static_cast<double>(passed));
  }

  MultiStepScheduleOptions options_;
};

}  // namespace tessera::optim
