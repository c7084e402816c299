#include <tessera/nn/loss/l1_loss.h>

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_same_shape("l1_loss", input, target);
  return reduce(abs(widened(input) - widened(target)), reduction);
}

}  // namespace tessera::nn
