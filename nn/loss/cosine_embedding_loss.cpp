#include <tessera/nn/loss/cosine_embedding_loss.h>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/where.h>

namespace tessera::nn {
namespace {

Tensor cosine(const Tensor& x, const Tensor& y) {
  constexpr double kEpsilon = 1e-12;
  const Tensor squares = (sum(x * x, {-1}) + kEpsilon) * (sum(y * y, {-1}) + kEpsilon);
  return sum(x * y, {-1}) / sqrt(squares);
}

}  // namespace

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossOptions& options) {
  const auto [x, y, sign] = stacked_alike(input1, input2, target);
  check_same_shape("cosine_embedding_loss", x, y);
  const Shape shape = unstacked_shape(x);
  const Shape given = unstacked_shape(sign);
  const int ndim = shape.size();
  check<ValueError>(
      (ndim == 1 || ndim == 2) && given.size() == ndim - 1 && (ndim == 1 || given[0] == shape[0]),
      "cosine_embedding_loss: the target does not fit; got ", given, " for ", shape,
      ", expected (N) for (N, D) or () for (D)");
  const Tensor cos = cosine(widened(x), widened(y));
  const Tensor alike = where(eq(sign, 1), 1 - cos, 0);
  const Tensor unlike = where(eq(sign, -1), relu(cos - options.margin), 0);
  return reduce(alike + unlike, options.reduction);
}

}  // namespace tessera::nn
