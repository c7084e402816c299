// The learning rate rises and falls once.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// The way from one value to another.
enum class Anneal : std::uint8_t { cosine, linear };

struct OneCycleScheduleOptions {
  double lr = 1e-3;        ///< the highest learning rate
  std::int64_t steps = 0;  ///< in all; must be given
  double pct_start = 0.3;  ///< the part of the steps in which the rate rises
  Anneal anneal_strategy = Anneal::cosine;
  bool cycle_momentum = true;     ///< the momentum falls while the rate rises
  double base_momentum = 0.85;    ///< at the highest rate
  double max_momentum = 0.95;     ///< at the beginning and the end
  double div_factor = 25;         ///< the first rate is the highest by it
  double final_div_factor = 1e4;  ///< the last rate is the first by it
  bool three_phase = false;       ///< down to the first rate as it came up, then to the last
};

/// One cycle of rates and momenta, as PyTorch's OneCycleLR has it (Smith and Topin,
/// "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates", 2018). It
/// has a warm-up by itself. After the last step the rate stays.
class OneCycleSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit OneCycleSchedule(const OneCycleScheduleOptions& options);

  /// The momentum in step `step`, counted from 0.
  [[nodiscard]] double momentum(std::int64_t step) const;
  /// Sets momenta as well, see Optimizer::set_momentum.
  void apply(std::int64_t step, Optimizer& optimizer) const override;

 private:
  /// One value at the borders between phases.
  struct Corners {
    double first, highest, last;
  };
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override;
  [[nodiscard]] double at(std::int64_t step, const Corners& corners) const;

  OneCycleScheduleOptions options_;
};

}  // namespace tessera::optim
