// Binary cross entropy of logits.
#pragma once

#include <tessera/core/ops/binary_cross_entropy_with_logits.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct BCEWithLogitsLossOptions {
  Tensor weight = {};      ///< of elements; broadcasts to the input
  Tensor pos_weight = {};  ///< of positive examples, a class; broadcasts to the input
  Reduction reduction = Reduction::mean;

  static void each(auto& options, const auto& f) { f("reduction", options.reduction); }
};

/// -(pos_weight target log(p) + (1 - target) log(1 - p)) with p = sigmoid(input), computed without
/// forming p. Input and target have one shape.
[[nodiscard]] inline Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const BCEWithLogitsLossOptions& options = {}) {
  using Op = BinaryCrossEntropyWithLogits;
  constexpr const char* kName = Op::info.name;
  const auto [x, y] = widened_alike(kName, input, target);
  check_weight(kName, "weight", options.weight, x);
  check_weight(kName, "pos_weight", options.pos_weight, x);
  const Tensor losses = options.pos_weight.defined() ? tessera::call<Op>({x, y, options.pos_weight})
                                                     : tessera::call<Op>({x, y});
  return reduce(options.weight.defined() ? losses * options.weight : losses, options.reduction);
}

/// binary_cross_entropy_with_logits as a module.
class BCEWithLogitsLoss : public WeightedLossWith<BCEWithLogitsLossOptions> {
 public:
  explicit BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {})
      : WeightedLossWith(options), pos_weight(register_weight("pos_weight", options.pos_weight)) {}
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    BCEWithLogitsLossOptions now = options();
    now.pos_weight = pos_weight;
    return binary_cross_entropy_with_logits(input, target, now);
  }

  Buffer pos_weight;  ///< undefined without weights
};

}  // namespace tessera::nn
