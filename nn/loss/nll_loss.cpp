#include <tessera/nn/loss/nll_loss.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/loss/class_targets.h>

namespace tessera::nn {

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossOptions& options) {
  const auto [x, classes] = stacked_alike(input, target);
  check<ValueError>(unstacked_ndim(x) >= 1, "nll_loss: the input needs classes; got ",
                    unstacked_shape(x));
  const int dim = class_dim_of(x);
  const ClassTargets targets("nll_loss", x, classes, dim, options.weight, options.ignore_index);
  return targets.reduce(-targets.pick(widened(x), dim) * targets.weight, options.reduction);
}

}  // namespace tessera::nn
