#include <tessera/nn/loss/l1_loss.h>

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const auto [x, y] = stacked_alike(input, target);
  check_same_shape("l1_loss", x, y);
  return reduce(abs(widened(x) - widened(y)), reduction);
}

}  // namespace tessera::nn
