#include <tessera/nn/loss/smooth_l1_loss.h>

#include <tessera/core/ops/div.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/l1_loss.h>

namespace tessera::nn {

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossOptions& options) {
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

}  // namespace tessera::nn
