// What tests of hooks call.
#pragma once

#include <vector>

#include "models.h"

namespace tessera::nn::contract {

inline Tensor input3() {
  return ones({3}).set_requires_grad(true);
}

inline std::vector<float> floats(const Tensor& x) {
  return x.to_vector<float>();
}

/// Writes to what it was given.
struct Overwriting : Module {
  Tensor forward(Tensor x) const { return mul_(x, 2.0); }
};

}  // namespace tessera::nn::contract
