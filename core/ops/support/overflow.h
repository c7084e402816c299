// Sums and products of sizes that a caller may choose as large as an integer can be.
#pragma once

#include <cstdint>

namespace tessera {

/// Adds a * b to `sum`. False, with any sum, where the result does not fit.
[[nodiscard]] inline bool add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

}  // namespace tessera
