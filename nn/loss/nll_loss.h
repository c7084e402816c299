// The negative log-likelihood.
#pragma once

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/loss/class_targets.h>
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
[[nodiscard]] inline Tensor nll_loss(const Tensor& input, const Tensor& target,
                                     const NLLLossOptions& options = {}) {
  const auto [x, classes] = stacked_alike(input, target);
  check<ValueError>(unstacked_ndim(x) >= 1, "nll_loss: the input needs classes; got ",
                    unstacked_shape(x));
  const int dim = class_dim_of(x);
  const ClassTargets targets("nll_loss", x, classes, dim, options.weight, options.ignore_index);
  return targets.reduce(-targets.pick(widened(x), dim) * targets.weight, options.reduction);
}

/// nll_loss as a module.
class NLLLoss : public LossOf<nll_loss, NLLLossOptions, WeightedLossWith> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
