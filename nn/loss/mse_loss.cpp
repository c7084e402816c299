#include <tessera/nn/loss/mse_loss.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const auto [x, y] = stacked_alike(input, target);
  check_same_shape("mse_loss", x, y);
  const Tensor error = widened(x) - widened(y);
  return reduce(error * error, reduction);
}

}  // namespace tessera::nn
