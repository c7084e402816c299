// Squared for small errors, absolute for large ones.
#pragma once

#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;  ///< from this error on the loss is a line

  static void each(auto& o, const auto& f) {
    visit_fields(f, "reduction", o.reduction, "delta", o.delta);
  }
};

/// e^2 / 2 where |e| = |input - target| is below delta, else delta (|e| - delta / 2) (Huber,
/// "Robust Estimation of a Location Parameter", 1964). Throws ValueError unless delta is positive.
[[nodiscard]] inline Tensor huber_loss(const Tensor& input, const Tensor& target,
                                       const HuberLossOptions& options = {}) {
  const auto [x, y] = widened_alike("huber_loss", input, target);
  check<ValueError>(options.delta > 0, "huber_loss: delta must be positive; got ", options.delta);
  const Tensor error = x - y;
  const Tensor limited = clamp(error, -options.delta, options.delta);
  return reduce(limited * (error - limited * 0.5), options.reduction);
}

/// huber_loss as a module.
class HuberLoss : public LossOf<huber_loss, HuberLossOptions> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
