// The learning rate falls along a cosine.
#pragma once

#include <cmath>
#include <numbers>

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then down to the lowest rate along half a cosine, as nanoGPT and, until its T_max,
/// PyTorch's CosineAnnealingLR do (Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with
/// Warm Restarts", ICLR 2017, without restarts).
class CosineSchedule : public EndingSchedule {
 public:
  using EndingSchedule::EndingSchedule;

 private:
  [[nodiscard]] double after_warmup(std::int64_t step, std::size_t group) const override {
    const double height = 0.5 * (1 + std::cos(std::numbers::pi * options().part(step)));
    return options().min_lr + height * (highest(group) - options().min_lr);
  }
};

}  // namespace tessera::optim
