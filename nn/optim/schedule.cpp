#include <tessera/nn/optim/schedule.h>

#include <tessera/core/base/error.h>

namespace tessera::optim {

Schedule::Schedule(const ScheduleOptions& options) : options_(options) {
  check(options.lr >= 0, "schedule: lr out of range; got ", options.lr, ", expected 0 or more");
  check(options.min_lr >= 0, "schedule: min_lr out of range; got ", options.min_lr,
        ", expected 0 or more");
  check(options.warmup >= 0, "schedule: warmup out of range; got ", options.warmup,
        ", expected 0 or more");
  check(options.steps >= 0, "schedule: steps out of range; got ", options.steps,
        ", expected 0 or more");
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
