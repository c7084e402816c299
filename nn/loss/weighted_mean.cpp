#include <tessera/nn/loss/weighted_mean.h>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

Tensor weighted_mean(const Tensor& values, const Tensor& weights) {
  const auto [numbers, shares] = stacked_alike(values, weights);
  check_same_shape("weighted_mean", numbers, shares);
  const Tensor wide = widened(numbers);
  const Tensor x = cast(wide, promote(wide.dtype(), shares.dtype()));
  const Tensor w = cast(shares.detach(), x.dtype());
  return counted_mean("weighted_mean", x * w, w);
}

Tensor counted_mean(const char* name, const Tensor& weighted, const Tensor& weights) {
  const Tensor total = sum(weights.detach());
  Tensor mean = sum(weighted) / where(eq(total, 0), 1, total);
  const Tensor counted = cast(total, DType::f64);
  const Cut cut = mean.cut();  // values may exist once a microbatch where all have these weights
  attach_counts(mean, name,
                cut && !counted.cut() ? repeat_microbatches(counted, cut.parts) : counted,
                elements_of_microbatch(weights));
  return mean;
}

}  // namespace tessera::nn
