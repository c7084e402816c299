// Distances that should be small for similar pairs and large for others.
#pragma once

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct HingeEmbeddingLossOptions {
  double margin = 1;
  Reduction reduction = Reduction::mean;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "margin", o.margin, "reduction", o.reduction);
  }
};

/// input where the target is 1, max(0, margin - input) where it is -1; both broadcast.
[[nodiscard]] inline Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                                 const HingeEmbeddingLossOptions& options = {}) {
  const Tensor x = widened(input);
  const Tensor near = where(ne(target, -1), x, 0);
  const Tensor far = where(ne(target, 1), relu(options.margin - x), 0);
  return reduce(near + far, options.reduction);
}

/// hinge_embedding_loss as a module.
class HingeEmbeddingLoss : public LossOf<hinge_embedding_loss, HingeEmbeddingLossOptions> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
