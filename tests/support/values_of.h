// What a model's parameters hold.
#pragma once

#include <vector>

#include <tessera/nn/module.h>

#include "support/values.h"

namespace tessera::testing_support {

/// Of several tensors.
using Values = std::vector<Floats>;

/// Of all parameters of `model`.
inline Values values_of(const nn::Module& model) {
  Values all;
  for (const nn::Parameter& parameter : model.parameters()) {
    all.push_back(values(parameter.value()));
  }
  return all;
}

}  // namespace tessera::testing_support
