#include <tessera/nn/layers/dropout.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

template <class M>
BuiltLayer dropout_layer(const Attributes& a) {
  return layer<M>(a.number("p"));
}

const Counterparts<Layer> kDropout{
    {"Dropout", {dropout_layer<nn::Dropout>}},
    {"Dropout2d", {dropout_layer<nn::Dropout2d>}},
    {"AlphaDropout", {dropout_layer<nn::AlphaDropout>}},
};

}  // namespace
}  // namespace tessera::oracle
