// What tests of hooks call.
#pragma once

#include <stdexcept>

#include "models.h"

namespace tessera::nn::contract {

inline Tensor input3() {
  return ones({3}).set_requires_grad(true);
}

struct FailingForward : Module {
  Tensor forward(const Tensor&) const { throw std::runtime_error("forward failed"); }
};

/// Writes to what it was given.
struct Overwriting : Module {
  Tensor forward(Tensor x) const { return mul_(x, 2.0); }
};

}  // namespace tessera::nn::contract
