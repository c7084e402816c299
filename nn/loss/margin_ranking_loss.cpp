#include <tessera/nn/loss/margin_ranking_loss.h>

#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sub.h>

namespace tessera::nn {

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossOptions& options) {
  check<ValueError>(input1.ndim() == input2.ndim() && input1.ndim() == target.ndim(),
                    "margin_ranking_loss: needs as many dims everywhere; got ", input1.shape(),
                    ", ", input2.shape(), " and target ", target.shape());
  const Tensor lead = (widened(input1) - widened(input2)) * widened(target);
  return reduce(relu(options.margin - lead), options.reduction);
}

}  // namespace tessera::nn
