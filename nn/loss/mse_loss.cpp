#include <tessera/nn/loss/mse_loss.h>

#include <tessera/core/ops/support/arithmetic.h>

namespace tessera::nn {

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const auto [x, y] = widened_alike("mse_loss", input, target);
  const Tensor error = x - y;
  return reduce(error * error, reduction);
}

}  // namespace tessera::nn
