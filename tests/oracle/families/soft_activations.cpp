#include <tessera/nn/layers/activation/glu.h>
#include <tessera/nn/layers/activation/log_sigmoid.h>
#include <tessera/nn/layers/activation/mish.h>
#include <tessera/nn/layers/activation/softplus.h>
#include <tessera/nn/layers/activation/softsign.h>

#include "oracle/support/activations.h"

namespace tessera::oracle {
namespace {

BuiltLayer softplus_layer(const Attributes& a) {
  return layer<nn::Softplus>(a.number("beta", 1), a.number("threshold", 20));
}

Tensor softplus_function(const NamedTensors& in, const Attributes& a) {
  return softplus(in["x"], a.number("beta", 1), a.number("threshold", 20));
}

BuiltLayer glu_layer(const Attributes& a) {
  return layer<nn::GLU>(static_cast<int>(a.integer("dim")));
}

Tensor glu_function(const NamedTensors& in, const Attributes& a) {
  return glu(in["x"], static_cast<int>(a.integer("dim")));
}

const Counterparts<Layer> kSoftActivations{
    {"Mish", {in_place_or_not<nn::Mish>, of_x<mish>}},
    {"Softplus", {softplus_layer, softplus_function}},
    {"Softsign", {plain<nn::Softsign>, of_x<softsign>}},
    {"LogSigmoid", {plain<nn::LogSigmoid>, of_x<log_sigmoid>}},
    {"GLU", {glu_layer, glu_function}},
};

}  // namespace
}  // namespace tessera::oracle
