// What a tensor holds.
#pragma once

#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera::testing_support {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

/// The elements of `x`, in the order of their indices.
inline Floats values(const Tensor& x) {
  return x.to_vector<float>();
}

/// The same in f64.
inline Doubles doubles(const Tensor& x) {
  return x.to_vector<double>();
}

}  // namespace tessera::testing_support
