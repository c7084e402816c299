#include <tessera/nn/loss/smooth_l1_loss.h>

#include <tessera/core/ops/div.h>
#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/l1_loss.h>

namespace tessera::nn {

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossOptions& options) {
  check_same_shape("smooth_l1_loss", input, target);
  check<ValueError>(options.beta >= 0, "smooth_l1_loss: beta must not be negative; got ",
                    options.beta);
  if (options.beta == 0) {
    return l1_loss(input, target, options.reduction);
  }
  const Tensor losses =
      huber_loss(input, target, {.reduction = Reduction::none, .delta = options.beta});
  return reduce(losses / options.beta, options.reduction);
}

}  // namespace tessera::nn
