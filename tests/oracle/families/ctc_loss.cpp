#include <tessera/core/ops/log_softmax.h>
#include <tessera/nn/loss/ctc_loss.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/losses.h"

namespace tessera::oracle {
namespace {

nn::CTCLossOptions ctc_options_of(const Attributes& a) {
  return {.blank = a.integer("blank", 0),
          .reduction = reduction_of(a),
          .zero_infinity = a.flag("zero_infinity", false)};
}

BuiltLayer ctc_loss_layer(const Attributes& a) {
  auto module = nn::make<nn::CTCLoss>(ctc_options_of(a));
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            const Tensor log_probs = log_softmax(in["logits"], -1);
            return {module(log_probs, in["targets"], in["input_lengths"], in["target_lengths"])};
          }};
}

Tensor ctc_loss_function(const NamedTensors& in, const Attributes& a) {
  return nn::ctc_loss(log_softmax(in["logits"], -1), in["targets"], in["input_lengths"],
                      in["target_lengths"], ctc_options_of(a));
}

const Counterparts<Layer> kCtcLoss{{"CTCLoss", {ctc_loss_layer, ctc_loss_function}}};

}  // namespace
}  // namespace tessera::oracle
