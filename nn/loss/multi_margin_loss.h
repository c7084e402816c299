// The hinge loss over classes.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct MultiMarginLossOptions {
  int p = 1;  ///< 1 or 2
  double margin = 1;
  Tensor weight = {};  ///< (C), one a class
  Reduction reduction = Reduction::mean;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "p", o.p, "margin", o.margin, "reduction", o.reduction);
  }
};

/// weight[y] sum_{c != y} max(0, margin - input[y] + input[c])^p / C: scores (N, C) or (C) and
/// classes y (N) or () (Weston and Watkins, "Support Vector Machines for Multi-Class Pattern
/// Recognition", ESANN 1999). Throws InvalidArgument for a class outside [0, C).
[[nodiscard]] Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                       const MultiMarginLossOptions& options = {});

/// multi_margin_loss as a module.
class MultiMarginLoss : public LossOf<multi_margin_loss, MultiMarginLossOptions, WeightedLossWith> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
