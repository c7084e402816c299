#include <tessera/nn/loss/triplet_margin_loss.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/support/arithmetic.h>

namespace tessera::nn {

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options) {
  const auto [own, like, unlike] = stacked_alike(anchor, positive, negative);
  const Shape one = unstacked_shape(own), same = unstacked_shape(like);
  const Shape other = unstacked_shape(unlike);
  check<ValueError>(one.size() == same.size() && one.size() == other.size(),
                    "triplet_margin_loss: needs as many dims everywhere; got ", one, ", ", same,
                    " and ", other);
  check<ValueError>(options.margin > 0, "triplet_margin_loss: the margin must be positive; got ",
                    options.margin);
  // Each widened once: gradients of its two uses are added in f32 and rounded once.
  const Tensor a = widened(own), p = widened(like), n = widened(unlike);
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return norm(x - y + options.eps, options.p, {-1});
  };
  Tensor apart = distance(a, n);
  if (options.swap) {
    apart = minimum(apart, distance(p, n));
  }
  return reduce(relu(distance(a, p) - apart + options.margin), options.reduction);
}

}  // namespace tessera::nn
