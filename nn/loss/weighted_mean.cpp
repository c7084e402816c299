#include <tessera/nn/loss/weighted_mean.h>

#include <algorithm>
#include <functional>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {
namespace {

/// A microbatch whose weights add up to nothing has no mean by which it could enter the batch's.
void check_not_cancelled(const Tensor& weights) {
  if (weights.device().type == DeviceType::meta || !is_differentiable(weights.dtype())) {
    return;
  }
  const Tensor cancelled = logical_and(eq(sum(weights), 0), sum(abs(weights)) > 0.0);
  check<ValueError>(std::ranges::none_of(cancelled.to_vector<bool>(), std::identity()),
                    "weighted_mean: the weights of a microbatch add up to 0, and not all of them "
                    "are 0; weights below 0 need a sum that is not 0 in each microbatch");
}

/// Weights of all samples of a pass, by their place and not by what they are (a mask, a weight for
/// each column): each microbatch of `values` has its own part of their sum.
Tensor cut_alike(const Tensor& weights, const Tensor& values) {
  const bool whole =
      values.microbatches() && !values.microbatches().per_microbatch && !weights.microbatches();
  return whole ? weights * ones_like(values) : weights;
}

}  // namespace

Tensor weighted_mean(const Tensor& values, const Tensor& weights) {
  const auto [numbers, shares] = stacked_alike(values, weights);
  check_same_shape("weighted_mean", numbers, shares);
  const Tensor wide = widened(numbers);
  const Tensor x = cast(wide, promote(wide.dtype(), shares.dtype()));
  const Tensor w = cut_alike(cast(shares.detach(), x.dtype()), x);
  check_not_cancelled(w);
  return counted_mean("weighted_mean", x * w, w);
}

Tensor counted_mean(const char* name, const Tensor& weighted, const Tensor& all_weights) {
  const Tensor weights = cut_alike(all_weights.detach(), weighted);
  const Tensor total = sum(weights);
  Tensor mean = sum(weighted) / where(eq(total, 0), 1, total);
  const Tensor counted = cast(total, DType::f64);
  const MicrobatchLayout layout =
      mean.microbatches();  // values may exist once a microbatch where all have these weights
  attach_counts(
      mean, name,
      layout && !counted.microbatches() ? repeat_microbatches(counted, layout.count) : counted,
      elements_of_microbatch(weights), weighted.microbatches().over);
  return mean;
}

}  // namespace tessera::nn
