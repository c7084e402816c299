// The learning rate falls along a cosine, again and again.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

struct CosineRestartsScheduleOptions {
  double lr = 1e-3;         ///< the highest learning rate
  double min_lr = 0;        ///< which the end of a period comes near
  std::int64_t warmup = 0;  ///< steps before the highest
  std::int64_t t_0 = 0;     ///< steps of the first period; must be given
  std::int64_t t_mult = 1;  ///< a period is so many times as long as the one before
};

/// Warm-up, then periods that begin with the highest rate and fall along half a cosine, as
/// PyTorch's CosineAnnealingWarmRestarts has it (Loshchilov and Hutter, "SGDR: Stochastic Gradient
/// Descent with Warm Restarts", ICLR 2017, equation 5).
class CosineRestartsSchedule : public Schedule {
 public:
  /// Throws ValueError naming the option that cannot be meant.
  explicit CosineRestartsSchedule(const CosineRestartsScheduleOptions& options);

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override;

  CosineRestartsScheduleOptions options_;
};

}  // namespace tessera::optim
