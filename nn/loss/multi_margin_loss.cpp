#include <tessera/nn/loss/multi_margin_loss.h>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/one_hot.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/loss/class_targets.h>

namespace tessera::nn {
namespace {

constexpr std::int64_t kNone = -1;  // no class is ignored; it is no class either

}  // namespace

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossOptions& options) {
  check<ValueError>(options.p == 1 || options.p == 2, "multi_margin_loss: wrong p; got ", options.p,
                    ", expected 1 or 2");
  const auto [scores, labels] = stacked_alike(input, target);
  const Shape shape = unstacked_shape(scores);
  check<ValueError>(shape.size() == 1 || shape.size() == 2,
                    "multi_margin_loss: needs scores (N, C) or (C); got ", shape);
  const int dim = class_dim_of(scores);
  const std::int64_t classes = shape[dim];
  const ClassTargets targets("multi_margin_loss", scores, labels, dim, options.weight, kNone);
  const Tensor x = widened(scores);
  const Tensor own = one_hot(labels, classes);
  const Tensor excess = relu(x - unsqueeze(targets.pick(x, dim), dim) + options.margin);
  const Tensor others = where(eq(own, 0), options.p == 1 ? excess : excess * excess, 0);
  const Tensor rows = sum(others, {dim}) * targets.weight / static_cast<double>(classes);
  return reduce(rows, options.reduction);
}

}  // namespace tessera::nn
