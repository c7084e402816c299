#include <tessera/core/ops/linear.h>
#include <tessera/nn/layers/linear.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer linear_layer(const Attributes& a) {
  return layer<nn::Linear>(a.integer("in_features"), a.integer("out_features"),
                           nn::LinearOptions{.bias = a.flag("bias", true)});
}

Tensor linear_function(const NamedTensors& in, const Attributes&) {
  return linear(in["x"], in["weight"], in["bias"]);
}

const Counterparts<Layer> kLinear{{"Linear", {linear_layer, linear_function}}};

}  // namespace
}  // namespace tessera::oracle
