// What products of matrices ask of their factors.
#pragma once

#include <initializer_list>

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Throws InvalidArgument unless all inputs can be rounded to `dtype`: no complex number to a real
/// one, no fraction to an integer.
void check_factors(const Infer& c, DType dtype);

/// A factor as errors name it.
struct Factor {
  const char* name;
  const Tensor& tensor;  ///< left out where it is undefined
};

/// The dtype in which `op` forms a product: that of its factors, or autocast's. Throws TypeError
/// where factors differ in dtype and autocast does not round them all, as in PyTorch: the product
/// would be wider than most of them, and as slow, which nobody asked for.
[[nodiscard]] DType product_dtype(const char* op, std::initializer_list<Factor> factors);

}  // namespace tessera
