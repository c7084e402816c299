// Learning rates as functions of the step.
//
//   const optim::CosineSchedule schedule({.lr = 6e-4, .min_lr = 6e-5, .warmup = 100, .steps =
//   2000}); optimizer.set_lr(schedule.rate(step));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::optim {

struct ScheduleOptions {
  double lr = 1e-3;         ///< the highest learning rate
  double min_lr = 0;        ///< at the end
  std::int64_t warmup = 0;  ///< steps before the highest
  std::int64_t steps = 0;   ///< in all

  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

/// What the rate of a step is depends on the options and the number of the step alone, so that a
/// schedule has no state: on resume it is made anew, with another total if that was raised.
///
/// All schedules begin with a linear warm-up: lr (s + 1) / (warmup + 1) in step s < warmup.
class Schedule {
 public:
  /// Throws InvalidArgument naming the option that cannot be meant.
  explicit Schedule(const ScheduleOptions& options);
  virtual ~Schedule() = default;

  /// The learning rate in step `step`, counted from 0.
  [[nodiscard]] double rate(std::int64_t step) const;
  [[nodiscard]] const ScheduleOptions& options() const { return options_; }
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// For checkpoints: the options by name.
  [[nodiscard]] std::vector<std::pair<std::string, double>> numbers() const;

 protected:
  /// The learning rate after the warm-up, before the end; `part` in [0, 1] of the way between.
  [[nodiscard]] virtual double after_warmup(double part) const = 0;

 private:
  ScheduleOptions options_;
};

}  // namespace tessera::optim
