// The negative log-likelihood.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct NLLLossOptions {
  Tensor weight = {};                ///< (C), one a class; the mean divides by those of the targets
  std::int64_t ignore_index = -100;  ///< rows with this target count nothing
  Reduction reduction = Reduction::mean;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "ignore_index", o.ignore_index, "reduction", o.reduction);
  }
};

/// -weight[target] input[target]: log-probabilities (N, C), (N, C, d1, ...) or (C) and classes (N),
/// (N, d1, ...) or () of any integer dtype. The mean divides by the weights
/// of the global batch's targets (docs/determinism.md); over no rows it is 0. Throws
/// InvalidArgument for a target outside [0, C) that is not `ignore_index`.
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target,
                              const NLLLossOptions& options = {});

/// nll_loss as a module.
class NLLLoss : public LossOf<nll_loss, NLLLossOptions, WeightedLossWith> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
