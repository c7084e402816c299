// Comparing tensors with what was computed another way.
#pragma once

#include <gtest/gtest.h>

#include <tessera/core/tensor/tensor.h>

namespace tessera::testing_support {

/// The same shape, and f64 values that differ by rounding alone.
inline void expect_close(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const auto a = got.to_vector<double>();
  const auto b = expected.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], 1e-12) << i;
  }
}

}  // namespace tessera::testing_support
