#include <tessera/nn/loss/l1_loss.h>

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const auto [x, y] = widened_alike("l1_loss", input, target);
  return reduce(abs(x - y), reduction);
}

}  // namespace tessera::nn
