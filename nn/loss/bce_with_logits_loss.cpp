#include <tessera/nn/loss/bce_with_logits_loss.h>

#include <tessera/core/ops/binary_cross_entropy_with_logits.h>
#include <tessera/core/ops/mul.h>

namespace tessera::nn {

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BCEWithLogitsLossOptions& options) {
  using Op = BinaryCrossEntropyWithLogits;
  constexpr const char* kName = Op::info.name;
  const auto [x, y] = widened_alike(kName, input, target);
  check_weight(kName, "weight", options.weight, x);
  check_weight(kName, "pos_weight", options.pos_weight, x);
  const Tensor losses =
      options.pos_weight.defined() ? call<Op>({x, y, options.pos_weight}) : call<Op>({x, y});
  return reduce(options.weight.defined() ? losses * options.weight : losses, options.reduction);
}

Tensor BCEWithLogitsLoss::forward(const Tensor& input, const Tensor& target) const {
  BCEWithLogitsLossOptions now = options();
  now.pos_weight = pos_weight;
  return binary_cross_entropy_with_logits(input, target, now);
}

}  // namespace tessera::nn
