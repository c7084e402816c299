// Cross entropy of logits with classes or with distributions over them.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct CrossEntropyLossOptions {
  Tensor weight = {};                ///< (C), one a class; the mean divides by those of the targets
  std::int64_t ignore_index = -100;  ///< rows with this class as target count nothing
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;  ///< this share of each target is spread evenly over all classes
  int class_dim = 1;           ///< of the logits; -1 for logits (..., C). That of (C) is 0

  static void each(auto& o, const auto& f) {
    visit_fields(f, "ignore_index", o.ignore_index, "reduction", o.reduction, "label_smoothing",
                 o.label_smoothing, "class_dim", o.class_dim);
  }
};

/// -sum_c weight[c] target[c] log softmax(input)[c] with the softmax over the classes: logits
/// (N, C), (N, C, d1, ...) or (C). Targets are classes (N), (N, d1, ...) or () of any integer
/// dtype, or distributions of the logits' shape, for which means divide by the number of rows.
/// Without weights and with classes this is one op, see core/ops/cross_entropy.h. Throws
/// InvalidArgument for a class outside [0, C) that is not `ignore_index`.
[[nodiscard]] Tensor cross_entropy_loss(const Tensor& input, const Tensor& target,
                                        const CrossEntropyLossOptions& options = {});

/// cross_entropy_loss as a module.
class CrossEntropyLoss
    : public LossOf<cross_entropy_loss, CrossEntropyLossOptions, WeightedLossWith> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
