// What tests of losses share: fixed inputs, and numbers that PyTorch 2.15 gave for them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include <tessera/core/tensor/factories.h>

namespace tessera::nn {

using Numbers = std::vector<double>;

inline Tensor x23() {
  return from_values<double>({0.5, -1.25, 2, 0.75, -0.5, 1.5}, {2, 3});
}
inline Tensor y23() {
  return from_values<double>({0.25, 0.75, -1, 0.75, 1.5, -0.5}, {2, 3});
}
inline Tensor z23() {
  return from_values<double>({1.5, 0.5, -0.25, -1, 0.25, 0.75}, {2, 3});
}

inline void expect_numbers(const Tensor& got, const Numbers& expected, double tolerance = 1e-13) {
  const Numbers values = got.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
  }
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
