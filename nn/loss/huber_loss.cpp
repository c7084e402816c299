#include <tessera/nn/loss/huber_loss.h>

#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/support/arithmetic.h>

namespace tessera::nn {

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options) {
  const auto [x, y] = widened_alike("huber_loss", input, target);
  check<ValueError>(options.delta > 0, "huber_loss: delta must be positive; got ", options.delta);
  const Tensor error = x - y;
  const Tensor limited = clamp(error, -options.delta, options.delta);
  return reduce(limited * (error - limited * 0.5), options.reduction);
}

}  // namespace tessera::nn
