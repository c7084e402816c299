#include <tessera/nn/loss/mse_loss.h>

#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_same_shape("mse_loss", input, target);
  const Tensor error = widened(input) - widened(target);
  return reduce(error * error, reduction);
}

}  // namespace tessera::nn
