// What tests of losses share: fixed inputs, and numbers that PyTorch 2.15 gave for them.
#pragma once

#include <tessera/core/tensor/factories.h>

#include "support/expect_numbers.h"

namespace tessera::nn {

using testing_support::expect_numbers;
using Numbers = testing_support::Doubles;

inline Tensor x23() {
  return from_values<double>({0.5, -1.25, 2, 0.75, -0.5, 1.5}, {2, 3});
}
inline Tensor y23() {
  return from_values<double>({0.25, 0.75, -1, 0.75, 1.5, -0.5}, {2, 3});
}
inline Tensor z23() {
  return from_values<double>({1.5, 0.5, -0.25, -1, 0.25, 0.75}, {2, 3});
}

/// The gradient of the sum of f(x).
template <class F>
Tensor gradient_of_sum(const F& f, const Tensor& x) {
  const Tensor leaf = x.detach().set_requires_grad(true);
  const Tensor y = f(leaf);
  y.backward(ones_like(y));
  return leaf.grad();
}

}  // namespace tessera::nn
