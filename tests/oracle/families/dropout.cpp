#include <tessera/core/ops/alpha_dropout.h>
#include <tessera/core/ops/channel_dropout.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/layers/dropout.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

template <class M>
BuiltLayer dropout_layer(const Attributes& a) {
  return layer<M>(a.number("p"));
}

/// The functions are for training.
template <Tensor (*f)(const Tensor&, double)>
Tensor dropout_function(const NamedTensors& in, const Attributes& a, bool training) {
  return training ? f(in["x"], a.number("p")) : in["x"] * 1.0;
}

const Counterparts<Layer> kDropout{
    {"Dropout",
     {.build = dropout_layer<nn::Dropout>, .function_of_mode = dropout_function<dropout>}},
    {"Dropout2d",
     {.build = dropout_layer<nn::Dropout2d>,
      .function_of_mode = dropout_function<channel_dropout>}},
    {"AlphaDropout",
     {.build = dropout_layer<nn::AlphaDropout>,
      .function_of_mode = dropout_function<alpha_dropout>}},
};

}  // namespace
}  // namespace tessera::oracle
