// The negative log-likelihood.
#pragma once

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct NLLLossOptions {
  Tensor weight = {};                ///< (C), one a class; the mean divides by those of the targets
  std::int64_t ignore_index = -100;  ///< rows with this target count nothing
  Reduction reduction = Reduction::mean;
};

/// -weight[target] input[target]: log-probabilities (N, C), (N, C, d1, ...) or (C) and classes (N),
/// (N, d1, ...) or () of any integer dtype. The mean over no rows is NaN. Throws InvalidArgument
/// for a target outside [0, C) that is not `ignore_index`.
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target,
                              const NLLLossOptions& options = {});

/// nll_loss as a module.
class NLLLoss : public Module {
 public:
  explicit NLLLoss(const NLLLossOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const;

  Buffer weight;  ///< (C); undefined without weights

 private:
  std::int64_t ignore_index_;
  Reduction reduction_;
};

}  // namespace tessera::nn
