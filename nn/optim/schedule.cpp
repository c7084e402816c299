#include <tessera/nn/optim/schedule.h>

#include <tessera/core/base/error.h>

namespace tessera::optim {

Schedule::Schedule(const ScheduleOptions& options) : options_(options) {
  check(options.lr >= 0, "schedule: lr is negative; got ", options.lr);
  check(options.min_lr >= 0, "schedule: min_lr is negative; got ", options.min_lr);
  check(options.warmup >= 0, "schedule: warmup is negative; got ", options.warmup);
  check(options.steps >= 0, "schedule: steps is negative; got ", options.steps);
}

double Schedule::rate(std::int64_t step) const {
  const auto& [lr, min_lr, warmup, steps] = options_;
  if (step < warmup) {
    return lr * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  }
  if (step >= steps) {
    return after_warmup(1);
  }
  return after_warmup(static_cast<double>(step - warmup) / static_cast<double>(steps - warmup));
}

std::vector<std::pair<std::string, double>> Schedule::numbers() const {
  return {{"lr", options_.lr},
          {"min_lr", options_.min_lr},
          {"warmup", static_cast<double>(options_.warmup)},
          {"steps", static_cast<double>(options_.steps)}};
}

}  // namespace tessera::optim
