// Anchors that should be nearer to their positives than to their negatives.
#pragma once

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;       ///< of the norm; at least 0
  double eps = 1e-6;  ///< added to differences, so that the distance has a gradient at 0
  bool swap = false;  ///< the positive's distance to the negative counts where it is shorter
  Reduction reduction = Reduction::mean;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "margin", o.margin, "p", o.p, "eps", o.eps, "swap", o.swap, "reduction",
                 o.reduction);
  }
};

/// max(0, |anchor - positive| - |anchor - negative| + margin) for vectors (..., D) of one number of
/// dims (Balntas et al., "Learning Shallow Convolutional Feature Descriptors with Triplet Losses",
/// BMVC 2016).
[[nodiscard]] inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                                const Tensor& negative,
                                                const TripletMarginLossOptions& options = {}) {
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

/// triplet_margin_loss as a module.
class TripletMarginLoss : public LossWith<TripletMarginLossOptions> {
 public:
  /// Throws ValueError unless the margin is positive.
  explicit TripletMarginLoss(const TripletMarginLossOptions& options = {}) : LossWith(options) {
    check<ValueError>(options.margin > 0, "TripletMarginLoss: the margin must be positive; got ",
                      options.margin);
  }
  [[nodiscard]] Tensor forward(const Tensor& anchor, const Tensor& positive,
                               const Tensor& negative) const {
    return triplet_margin_loss(anchor, positive, negative, options());
  }
};

}  // namespace tessera::nn
