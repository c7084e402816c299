// Comparing results with numbers that are written down.
#pragma once

#include <gtest/gtest.h>

#include "support/values.h"

namespace tessera::testing_support {

/// As many numbers, each within `tolerance`.
inline void expect_numbers(const Doubles& got, const Doubles& expected, double tolerance = 1e-13) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
  }
}

inline void expect_numbers(const Tensor& got, const Doubles& expected, double tolerance = 1e-13) {
  expect_numbers(doubles(got), expected, tolerance);
}

}  // namespace tessera::testing_support
