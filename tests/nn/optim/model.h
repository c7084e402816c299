// What the tests of optimizers train.
#pragma once

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/module.h>

#include "support/values_of.h"

namespace tessera::optim {

using testing_support::Values;
using testing_support::values_of;

/// Three parameters: of several blocks and a part of one, of less than a block, and an unused one.
struct Model : nn::Module {
  nn::Parameter large{this, "large", {1000, 257}, nn::init::normal(0, 1)};
  nn::Parameter small{this, "small", {5}, nn::init::normal(0, 1)};
  nn::Parameter unused{this, "unused", {3}, nn::init::normal(0, 1)};
};

inline Tensor gradient(const Shape& shape, std::uint64_t key) {
  const Tensor value = empty(shape);
  nn::init::normal(0, 0.1)(value, Box::all_of(value.shape()), {.key = key});
  return value;
}

inline void set_gradients(const Model& model, std::uint64_t step) {
  model.large.value().set_grad(gradient(model.large.shape(), 2 * step));
  model.small.value().set_grad(gradient(model.small.shape(), 2 * step + 1));
}

}  // namespace tessera::optim
