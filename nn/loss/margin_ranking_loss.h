// Which of two scores should be the larger.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct MarginRankingLossOptions {
  double margin = 0;
  Reduction reduction = Reduction::mean;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "margin", o.margin, "reduction", o.reduction);
  }
};

/// max(0, margin - target (input1 - input2)): a target of 1 ranks input1 higher, -1 input2. All
/// three have the same number of dims and broadcast.
[[nodiscard]] Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                                         const Tensor& target,
                                         const MarginRankingLossOptions& options = {});

/// margin_ranking_loss as a module.
class MarginRankingLoss : public LossWith<MarginRankingLossOptions> {
 public:
  using LossWith::LossWith;
  [[nodiscard]] Tensor forward(const Tensor& input1, const Tensor& input2,
                               const Tensor& target) const {
    return margin_ranking_loss(input1, input2, target, options());
  }
};

}  // namespace tessera::nn
