// The divergence of one distribution from another.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>
#include <array>
#include <string_view>

namespace tessera::nn {

/// Reduction and `batchmean`, the sum over dim 0's size, which is the mean divergence of a batch.
enum class KLDivReduction : std::uint8_t { mean, sum, none, batchmean };

/// The names of the enumerators, in order.
[[nodiscard]] constexpr auto names_of(KLDivReduction /*of_this_type*/) {
  return std::array<std::string_view, 4>{"mean", "sum", "none", "batchmean"};
}

struct KLDivLossOptions {
  KLDivReduction reduction = KLDivReduction::mean;  ///< over all elements, as in PyTorch
  bool log_target = false;                          ///< the target holds logarithms too

  static void each(auto& o, const auto& f) {
    visit_fields(f, "reduction", o.reduction, "log_target", o.log_target);
  }
};

/// target (log target - input), 0 where the target is 0 (Kullback and Leibler, "On Information and
/// Sufficiency", 1951): `input` holds logarithms of probabilities, `target` of the same shape
/// probabilities.
[[nodiscard]] Tensor kl_div(const Tensor& input, const Tensor& target,
                            const KLDivLossOptions& options = {});

/// kl_div as a module.
class KLDivLoss : public LossOf<kl_div, KLDivLossOptions> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
