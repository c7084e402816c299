#include <tessera/nn/loss/margin_ranking_loss.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/support/arithmetic.h>

namespace tessera::nn {

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossOptions& options) {
  const auto [x, y, sign] = stacked_alike(input1, input2, target);
  const Shape first = unstacked_shape(x), second = unstacked_shape(y);
  const Shape given = unstacked_shape(sign);
  check<ValueError>(first.size() == second.size() && first.size() == given.size(),
                    "margin_ranking_loss: needs as many dims everywhere; got ", first, ", ", second,
                    " and target ", given);
  const Tensor lead = (widened(x) - widened(y)) * widened(sign);
  return reduce(relu(options.margin - lead), options.reduction);
}

}  // namespace tessera::nn
