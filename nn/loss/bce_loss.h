// Binary cross entropy of probabilities.
#pragma once

#include <tessera/core/ops/binary_cross_entropy.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct BCELossOptions {
  Tensor weight = {};  ///< of elements; broadcasts to the input
  Reduction reduction = Reduction::mean;

  static void each(auto& options, const auto& f) { f("reduction", options.reduction); }
};

/// -(target log(input) + (1 - target) log(1 - input)), both in [0, 1] and of one shape. Logarithms
/// are at least -100, as in PyTorch. Throws InvalidArgument for numbers outside [0, 1].
[[nodiscard]] inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                                 const BCELossOptions& options = {}) {
  const auto [x, y] = widened_alike("binary_cross_entropy", input, target);
  check_weight("binary_cross_entropy", "weight", options.weight, x);
  const Tensor losses = tessera::call<BinaryCrossEntropy>({x, y});
  return reduce(options.weight.defined() ? losses * options.weight : losses, options.reduction);
}

/// binary_cross_entropy as a module.
class BCELoss : public LossOf<binary_cross_entropy, BCELossOptions, WeightedLossWith> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
