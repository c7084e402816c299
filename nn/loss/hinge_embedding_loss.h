// Distances that should be small for similar pairs and large for others.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct HingeEmbeddingLossOptions {
  double margin = 1;
  Reduction reduction = Reduction::mean;

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("margin", options.margin);
    f("reduction", options.reduction);
  }
};

/// input where the target is 1, max(0, margin - input) where it is -1; both broadcast.
[[nodiscard]] Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                          const HingeEmbeddingLossOptions& options = {});

/// hinge_embedding_loss as a module.
class HingeEmbeddingLoss : public Module {
 public:
  explicit HingeEmbeddingLoss(const HingeEmbeddingLossOptions& options = {}) : options_(options) {}
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return hinge_embedding_loss(input, target, options_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(options_); }

 private:
  HingeEmbeddingLossOptions options_;
};

}  // namespace tessera::nn
