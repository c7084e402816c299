#include <tessera/nn/layers/activation/celu.h>
#include <tessera/nn/layers/activation/elu.h>
#include <tessera/nn/layers/activation/hardsigmoid.h>
#include <tessera/nn/layers/activation/hardswish.h>
#include <tessera/nn/layers/activation/hardtanh.h>
#include <tessera/nn/layers/activation/leaky_relu.h>
#include <tessera/nn/layers/activation/prelu.h>
#include <tessera/nn/layers/activation/relu6.h>
#include <tessera/nn/layers/activation/selu.h>
#include <tessera/nn/layers/activation/threshold.h>

#include "oracle/support/activations.h"

namespace tessera::oracle {
namespace {

BuiltLayer hardtanh_layer(const Attributes& a) {
  return in_place_or_not<nn::Hardtanh>(a, a.number("min_val", -1), a.number("max_val", 1));
}

Tensor hardtanh_function(const NamedTensors& in, const Attributes& a) {
  return hardtanh(in["x"], a.number("min_val", -1), a.number("max_val", 1));
}

BuiltLayer threshold_layer(const Attributes& a) {
  return in_place_or_not<nn::Threshold>(a, a.number("threshold"), a.number("value"));
}

Tensor threshold_function(const NamedTensors& in, const Attributes& a) {
  return threshold(in["x"], a.number("threshold"), a.number("value"));
}

BuiltLayer prelu_layer(const Attributes& a) {
  return layer<nn::PReLU>(a.integer("num_parameters", 1), a.number("init", 0.25));
}

Tensor prelu_function(const NamedTensors& in, const Attributes&) {
  return prelu(in["x"], in["weight"]);
}

const Counterparts<Layer> kRectifiers{
    {"LeakyReLU",
     {with_option<nn::LeakyReLU>("negative_slope", 0.01),
      of_option<leaky_relu>("negative_slope", 0.01)}},
    {"ELU", {with_option<nn::ELU>("alpha", 1), of_option<elu>("alpha", 1)}},
    {"CELU", {with_option<nn::CELU>("alpha", 1), of_option<celu>("alpha", 1)}},
    {"SELU", {in_place_or_not<nn::SELU>, of_x<selu>}},
    {"ReLU6", {in_place_or_not<nn::ReLU6>, of_x<relu6>}},
    {"Hardsigmoid", {in_place_or_not<nn::Hardsigmoid>, of_x<hardsigmoid>}},
    {"Hardswish", {in_place_or_not<nn::Hardswish>, of_x<hardswish>}},
    {"Hardtanh", {hardtanh_layer, hardtanh_function}},
    {"Threshold", {threshold_layer, threshold_function}},
    {"PReLU", {prelu_layer, prelu_function}},
};

}  // namespace
}  // namespace tessera::oracle
