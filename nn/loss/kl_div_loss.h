// The divergence of one distribution from another.
#pragma once

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// As Reduction; `batchmean`, the sum over dim 0's size, is what the divergence of a batch means.
enum class KLDivReduction : std::uint8_t { mean, sum, none, batchmean };

struct KLDivLossOptions {
  KLDivReduction reduction = KLDivReduction::mean;  ///< over all elements, as in PyTorch
  bool log_target = false;                          ///< the target holds logarithms too
};

/// target (log target - input), 0 where the target is 0 (Kullback and Leibler, "On Information and
/// Sufficiency", 1951): `input` holds logarithms of probabilities, `target` of the same shape
/// probabilities.
[[nodiscard]] Tensor kl_div(const Tensor& input, const Tensor& target,
                            const KLDivLossOptions& options = {});

/// kl_div as a module.
class KLDivLoss : public Module {
 public:
  explicit KLDivLoss(const KLDivLossOptions& options = {}) : options_(options) {}
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return kl_div(input, target, options_);
  }

 private:
  KLDivLossOptions options_;
};

}  // namespace tessera::nn
