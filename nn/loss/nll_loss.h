// The negative log-likelihood.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct NLLLossOptions {
  Tensor weight = {};                ///< (C), one a class; the mean divides by those of the targets
  std::int64_t ignore_index = -100;  ///< rows with this target count nothing
  Reduction reduction = Reduction::mean;

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("ignore_index", options.ignore_index);
    f("reduction", options.reduction);
  }
};

/// -weight[target] input[target]: log-probabilities (N, C), (N, C, d1, ...) or (C) and classes (N),
/// (N, d1, ...) or () of any integer dtype. The mean divides by the weights
/// of the global batch's targets (docs/determinism.md); over no rows it is 0. Throws
/// InvalidArgument for a target outside [0, C) that is not `ignore_index`.
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target,
                              const NLLLossOptions& options = {});

/// nll_loss as a module.
class NLLLoss : public Module {
 public:
  explicit NLLLoss(const NLLLossOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(NLLLossOptions{.ignore_index = ignore_index_, .reduction = reduction_});
  }

  Buffer weight;  ///< (C); undefined without weights

 private:
  std::int64_t ignore_index_;
  Reduction reduction_;
};

}  // namespace tessera::nn
