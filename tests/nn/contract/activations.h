// What the tests of the contract's activations share.
#pragma once

#include <functional>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/activation/gelu.h>
#include <tessera/nn/layers/activation/sigmoid.h>
#include <tessera/nn/layers/activation/tanh.h>

#include "models.h"

namespace tessera::nn::contract {

using Doubles = std::vector<double>;
using Activation = std::function<Tensor(const Tensor&)>;

inline Tensor values_of(std::initializer_list<double> values) {
  return tensor<double>(values);
}

inline Doubles doubles(const Tensor& x) {
  return x.to_vector<double>();
}

/// y(x) and dy/dx.
struct Curve {
  Doubles y;
  Doubles slope;
};
inline Curve curve_of(const Activation& f, const Tensor& at) {
  Tensor leaf = at.detach();
  leaf.set_requires_grad(true);
  const Tensor y = f(leaf);
  sum(y).backward();
  return {doubles(y), doubles(leaf.grad())};
}

/// GELU in its two forms, sigmoid and tanh, in the order of the contract's table.
inline std::vector<Activation> golden_curves() {
  return {[gelu = make<GELU>()](const Tensor& x) { return gelu(x); },
          [gelu = make<GELU>("tanh")](const Tensor& x) { return gelu(x); },
          [sigmoid = make<Sigmoid>()](const Tensor& x) { return sigmoid(x); },
          [tanh = make<Tanh>()](const Tensor& x) { return tanh(x); }};
}

}  // namespace tessera::nn::contract
