// The absolute error, rounded off at its kink.
#pragma once

#include <tessera/core/ops/div.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/l1_loss.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct SmoothL1LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;  ///< from this error on the loss is a line; 0 makes it the l1_loss

  static void each(auto& o, const auto& f) {
    visit_fields(f, "reduction", o.reduction, "beta", o.beta);
  }
};

/// e^2 / (2 beta) where |e| = |input - target| is below beta, else |e| - beta / 2 (Girshick, "Fast
/// R-CNN", ICCV 2015). Throws ValueError for a negative beta.
[[nodiscard]] inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                           const SmoothL1LossOptions& options = {}) {
  const auto [x, y] = stacked_alike(input, target);
  check_same_shape("smooth_l1_loss", x, y);
  check<ValueError>(options.beta >= 0, "smooth_l1_loss: beta must not be negative; got ",
                    options.beta);
  if (options.beta == 0) {
    return l1_loss(x, y, options.reduction);
  }
  const Tensor losses = huber_loss(x, y, {.reduction = Reduction::none, .delta = options.beta});
  return reduce(losses / options.beta, options.reduction);
}

/// smooth_l1_loss as a module.
class SmoothL1Loss : public LossOf<smooth_l1_loss, SmoothL1LossOptions> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
