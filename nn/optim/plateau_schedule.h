// The learning rate falls when a metric stops to improve.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

struct PlateauScheduleOptions {
  enum class Mode : std::uint8_t { min, max };
  enum class ThresholdMode : std::uint8_t { rel, abs };

  double lr = 1e-3;            ///< the highest learning rate
  double min_lr = 0;           ///< no rate falls below it
  std::int64_t warmup = 0;     ///< steps before the highest
  Mode mode = Mode::min;       ///< whether the metric is to fall or to rise
  double factor = 0.1;         ///< rates are multiplied with it
  std::int64_t patience = 10;  ///< so many metrics without improvement are borne
  double threshold = 1e-4;     ///< what counts as improvement
  ThresholdMode threshold_mode = ThresholdMode::rel;  ///< of the best metric, or by itself
  std::int64_t cooldown = 0;  ///< so many metrics after a change do not count
  double eps = 1e-8;          ///< smaller changes are not made
};

/// Warm-up, then the highest rate, which falls by a factor whenever a metric has not improved for a
/// while, as PyTorch's ReduceLROnPlateau has it.
class PlateauSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit PlateauSchedule(const PlateauScheduleOptions& options);

  /// Takes the metric of an evaluation: a validation loss, say.
  void see(double metric);
  void add_group(double lr) override;

  [[nodiscard]] State state() const override;
  void load_state(const State& state) override;

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override;
  [[nodiscard]] bool improves(double metric) const;
  static void each_number(auto& schedule, const auto& f);

  PlateauScheduleOptions options_;
  std::vector<double> rates_;  ///< now, by group
  double best_;
  double without_improvement_ = 0;  ///< metrics
  double cooldown_left_ = 0;        ///< metrics
};

}  // namespace tessera::optim
