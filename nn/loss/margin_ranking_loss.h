// Which of two scores should be the larger.
#pragma once

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/support/arithmetic.h>
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
[[nodiscard]] inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                                                const Tensor& target,
                                                const MarginRankingLossOptions& options = {}) {
  const auto [x, y, sign] = stacked_alike(input1, input2, target);
  const Shape first = unstacked_shape(x), second = unstacked_shape(y);
  const Shape given = unstacked_shape(sign);
  check<ValueError>(first.size() == second.size() && first.size() == given.size(),
                    "margin_ranking_loss: needs as many dims everywhere; got ", first, ", ", second,
                    " and target ", given);
  const Tensor lead = (widened(x) - widened(y)) * widened(sign);
  return reduce(relu(options.margin - lead), options.reduction);
}

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
