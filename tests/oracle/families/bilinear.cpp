#include <tessera/nn/layers/bilinear.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer bilinear_layer(const Attributes& a) {
  return layer<nn::Bilinear>(a.integer("in1_features"), a.integer("in2_features"),
                             a.integer("out_features"),
                             nn::BilinearOptions{.bias = a.flag("bias", true)});
}

Tensor bilinear_function(const NamedTensors& in, const Attributes&) {
  return nn::bilinear(in["x1"], in["x2"], in["weight"], in["bias"]);
}

const Counterparts<Layer> kBilinear{{"Bilinear", {bilinear_layer, bilinear_function}}};

}  // namespace
}  // namespace tessera::oracle
