// The learning rate falls along a polynomial.
#pragma once

#include <cmath>

#include <tessera/nn/optim/option_checks.h>
#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then down to the lowest rate: the distance from it is (1 - part of the way)^power of
/// what it was. With a lowest rate of 0 that is PyTorch's PolynomialLR.
class PolynomialSchedule : public EndingSchedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit PolynomialSchedule(const ScheduleOptions& options, double power = 1)
      : EndingSchedule(options), power_(power) {
    require_not_negative("PolynomialSchedule", "power", power);
  }

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override {
    const double height = std::pow(1 - options().part(step), power_);
    return options().min_lr + height * (highest(group) - options().min_lr);
  }

  double power_;
};

}  // namespace tessera::optim
