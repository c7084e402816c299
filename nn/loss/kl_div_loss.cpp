#include <tessera/nn/loss/kl_div_loss.h>

#include <limits>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/log.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/where.h>

namespace tessera::nn {
namespace {

/// target log(target); the gradient at 0, which is infinite, counts as 0.
Tensor negative_entropy(const Tensor& target) {
  return target * log(where(eq(target, 0), 1, target));
}

/// target (log target - input), 0 where the target is 0, though the input be infinite there.
Tensor divergence(const Tensor& input, const Tensor& target) {
  const Tensor none =
      logical_and(eq(target, 0), eq(input, -std::numeric_limits<double>::infinity()));
  return negative_entropy(target) - target * where(none, 0, input);
}

/// `divergence` where the target holds logarithms: -inf is that of 0.
Tensor divergence_of_logs(const Tensor& input, const Tensor& target) {
  const Tensor none = eq(target, -std::numeric_limits<double>::infinity());
  return exp(target) * (where(none, 0, target) - where(none, 0, input));
}

/// The sum of `losses` by the size of their first dim. Where that holds samples, those of one
/// microbatch count, and a pass takes the mean of its microbatches'.
Tensor mean_over_first_dim(const Tensor& losses) {
  const Shape shape = unstacked_shape(losses);
  const MicrobatchLayout& layout = losses.microbatches();
  const bool several = layout && !layout.per_microbatch && layout.dim == 0;
  const std::int64_t size = shape.empty() ? 1 : shape[0] / (several ? layout.count : 1);
  Tensor divided = call<Div>({sum(losses), Number(static_cast<double>(size)).tensor()});
  if (several) {
    divided.get().set_over(OverPass::mean);
  }
  return divided;
}

}  // namespace

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivLossOptions& options) {
  const auto [x, y] = widened_alike("kl_div", input, target);
  const Tensor losses = options.log_target ? divergence_of_logs(x, y) : divergence(x, y);
  switch (options.reduction) {
    case KLDivReduction::batchmean:
      return mean_over_first_dim(losses);
    case KLDivReduction::mean:
      return reduce(losses, Reduction::mean);
    case KLDivReduction::sum:
      return reduce(losses, Reduction::sum);
    case KLDivReduction::none:
      break;
  }
  return losses;
}

}  // namespace tessera::nn
