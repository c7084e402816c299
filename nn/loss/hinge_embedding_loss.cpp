#include <tessera/nn/loss/hinge_embedding_loss.h>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/where.h>

namespace tessera::nn {

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossOptions& options) {
  const Tensor x = widened(input);
  const Tensor near = where(ne(target, -1), x, 0);
  const Tensor far = where(ne(target, 1), relu(options.margin - x), 0);
  return reduce(near + far, options.reduction);
}

}  // namespace tessera::nn
