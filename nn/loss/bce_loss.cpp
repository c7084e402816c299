#include <tessera/nn/loss/bce_loss.h>

#include <tessera/core/ops/binary_cross_entropy.h>
#include <tessera/core/ops/mul.h>

namespace tessera::nn {

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BCELossOptions& options) {
  const auto [x, y] = widened_alike("binary_cross_entropy", input, target);
  check_weight("binary_cross_entropy", "weight", options.weight, x);
  const Tensor losses = call<BinaryCrossEntropy>({x, y});
  return reduce(options.weight.defined() ? losses * options.weight : losses, options.reduction);
}

}  // namespace tessera::nn
