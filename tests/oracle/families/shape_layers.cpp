#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/identity.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

int dim_of(const Attributes& a, const std::string& name, int fallback) {
  return static_cast<int>(a.integer(name, fallback));
}

BuiltLayer flatten_layer(const Attributes& a) {
  return layer<nn::Flatten>(dim_of(a, "start_dim", 1), dim_of(a, "end_dim", -1));
}

BuiltLayer unflatten_layer(const Attributes& a) {
  return layer<nn::Unflatten>(dim_of(a, "dim", 0), a.dims("unflattened_size"));
}

const Counterparts<Layer> kShapeLayers{
    {"Identity", {[](const Attributes&) { return layer<nn::Identity>(); }}},
    {"Flatten", {flatten_layer}},
    {"Unflatten", {unflatten_layer}},
};

}  // namespace
}  // namespace tessera::oracle
