// Pairs of vectors that should point the same way, or not.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct CosineEmbeddingLossOptions {
  double margin = 0;  ///< cosines below it cost nothing in pairs that should differ
  Reduction reduction = Reduction::mean;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "margin", o.margin, "reduction", o.reduction);
  }
};

/// 1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1: vectors
/// (N, D) or (D), targets (N) or (). Squared lengths are taken 1e-12 larger, as in PyTorch.
[[nodiscard]] Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                                           const Tensor& target,
                                           const CosineEmbeddingLossOptions& options = {});

/// cosine_embedding_loss as a module.
class CosineEmbeddingLoss : public LossWith<CosineEmbeddingLossOptions> {
 public:
  using LossWith::LossWith;
  [[nodiscard]] Tensor forward(const Tensor& input1, const Tensor& input2,
                               const Tensor& target) const {
    return cosine_embedding_loss(input1, input2, target, options());
  }
};

}  // namespace tessera::nn
