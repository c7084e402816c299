#include <tessera/nn/loss/cross_entropy_loss.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/losses.h"

namespace tessera::oracle {
namespace {

nn::CrossEntropyLossOptions options_of(const Attributes& a, const Tensor& weight) {
  return {.weight = weight,
          .ignore_index = a.integer("ignore_index", -100),
          .reduction = reduction_of(a),
          .label_smoothing = a.number("label_smoothing", 0.0)};
}

BuiltLayer cross_entropy_layer(const Attributes& a) {
  return layer<nn::CrossEntropyLoss>(options_of(a, weights_of(a, "weight")));
}

Tensor cross_entropy_function(const NamedTensors& in, const Attributes& a) {
  return nn::cross_entropy_loss(in.at(0), in.at(1), options_of(a, in["weight"]));
}

const Counterparts<Layer> kCrossEntropy{
    {"CrossEntropyLoss", {cross_entropy_layer, cross_entropy_function}}};

}  // namespace
}  // namespace tessera::oracle
