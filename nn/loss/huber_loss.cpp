#include <tessera/nn/loss/huber_loss.h>

#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options) {
  const auto [x, y] = stacked_alike(input, target);
  check_same_shape("huber_loss", x, y);
  check<ValueError>(options.delta > 0, "huber_loss: delta must be positive; got ", options.delta);
  const Tensor error = widened(x) - widened(y);
  const Tensor limited = clamp(error, -options.delta, options.delta);
  return reduce(limited * (error - limited * 0.5), options.reduction);
}

}  // namespace tessera::nn
