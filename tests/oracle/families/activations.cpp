#include <tessera/nn/layers/activation/gelu.h>
#include <tessera/nn/layers/activation/log_softmax.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/activation/sigmoid.h>
#include <tessera/nn/layers/activation/silu.h>
#include <tessera/nn/layers/activation/softmax.h>
#include <tessera/nn/layers/activation/tanh.h>

#include "oracle/support/activations.h"

namespace tessera::oracle {
namespace {

template <Tensor (*f)(const Tensor&, int)>
Tensor along_dim(const NamedTensors& in, const Attributes& a) {
  return f(in["x"], static_cast<int>(a.integer("dim")));
}

template <class M>
BuiltLayer of_dim(const Attributes& a) {
  return layer<M>(static_cast<int>(a.integer("dim")));
}

BuiltLayer gelu_layer(const Attributes& a) {
  return layer<nn::GELU>(a.text("approximate"));
}

Tensor gelu_function(const NamedTensors& in, const Attributes& a) {
  return gelu(in["x"], a.text("approximate") == "tanh");
}

const Counterparts<Layer> kActivations{
    {"GELU", {gelu_layer, gelu_function}},
    {"ReLU", {in_place_or_not<nn::ReLU>, of_x<relu>}},
    {"SiLU", {in_place_or_not<nn::SiLU>, of_x<silu>}},
    {"Sigmoid", {plain<nn::Sigmoid>, of_x<sigmoid>}},
    {"Tanh", {plain<nn::Tanh>, of_x<tanh>}},
    {"Softmax", {of_dim<nn::Softmax>, along_dim<softmax>}},
    {"LogSoftmax", {of_dim<nn::LogSoftmax>, along_dim<log_softmax>}},
};

}  // namespace
}  // namespace tessera::oracle
