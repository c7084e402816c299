// The learning rate falls along a cosine.
#pragma once

#include <tessera/nn/optim/schedule.h>

namespace tessera::optim {

/// Warm-up, then down to the lowest rate along half a cosine, as nanoGPT does (Loshchilov and
/// Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017, without restarts).
class CosineSchedule : public Schedule {
 public:
  using Schedule::Schedule;
  [[nodiscard]] std::string_view name() const override { return "cosine"; }

 private:
  [[nodiscard]] double after_warmup(double part) const override;
};

}  // namespace tessera::optim
