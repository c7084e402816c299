// Learning rates as functions of the step.
//
//   const optim::CosineSchedule schedule({.lr = 6e-4, .warmup = 100, .steps = 2000});
//   schedule.apply(step, optimizer);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::optim {

class Optimizer;  // nn/optim/optimizer.h

/// Options of schedules that end.
struct ScheduleOptions {
  double lr = 1e-3;         ///< the highest learning rate
  double min_lr = 0;        ///< at the end
  std::int64_t warmup = 0;  ///< steps before the highest
  std::int64_t steps = 0;   ///< in all

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  /// How much of the way from the warm-up to the end lies before `step`, counted from the end of
  /// the warm-up; in [0, 1].
  [[nodiscard]] double part(std::int64_t step) const;
};

/// All schedules begin with a linear warm-up: lr (s + 1) / (warmup + 1) in step s < warmup, which
/// is PyTorch's LinearLR(start_factor = 1 / (warmup + 1), total_iters = warmup) in a SequentialLR.
///
/// What the rate of a step is depends on the options and the number of the step alone (but for
/// PlateauSchedule), so that a schedule has no state: on resume it is made anew, with another total
/// if that was raised.
class Schedule {
 public:
  /// The first group of parameters has the highest rate `lr`.
  Schedule(double lr, std::int64_t warmup);
  virtual ~Schedule() = default;

  /// Adds a group with a highest rate of its own.
  virtual void add_group(double lr);
  /// The learning rate of a group in step `step`, counted from 0.
  [[nodiscard]] double rate(std::int64_t step, std::size_t group = 0) const;
  /// Sets the rates of an optimizer's groups for step `step`; a schedule of one group is that of
  /// all. Throws ValueError when the numbers of groups differ otherwise.
  virtual void apply(std::int64_t step, Optimizer& optimizer) const;

  /// What a checkpoint keeps: nothing where rates depend on the step alone.
  using State = std::vector<std::pair<std::string, double>>;
  [[nodiscard]] virtual State state() const { return {}; }
  /// Throws ValueError naming a number that is missing or unknown; nothing is changed then.
  virtual void load_state(const State& /*state*/) {}

 protected:
  /// The rates of all groups of `optimizer`. Throws ValueError as `apply` does.
  [[nodiscard]] std::vector<double> rates(std::int64_t step, const Optimizer& optimizer) const;
  /// The highest rate of a group.
  [[nodiscard]] double highest(std::size_t group) const { return highest_.at(group); }
  [[nodiscard]] std::size_t group_count() const { return highest_.size(); }
  /// The learning rate of a group in a step counted from the end of the warm-up.
  [[nodiscard]] virtual double after_warmup(std::int64_t step, std::size_t group) const = 0;

 private:
  std::vector<double> highest_;
  std::int64_t warmup_;
};

/// A schedule of ScheduleOptions; those inherit its constructor.
class EndingSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit EndingSchedule(const ScheduleOptions& options)
      : Schedule(options.lr, options.warmup), options_(options) {
    options.validate();
  }

 protected:
  [[nodiscard]] const ScheduleOptions& options() const { return options_; }

 private:
  ScheduleOptions options_;
};

}  // namespace tessera::optim
