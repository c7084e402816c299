// Comparisons and choices on contiguous arrays of f32, bf16 or f64.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

enum class Comparison : std::uint8_t {
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  count
};

/// y[i] = a[i] ? b[i]
void compare(Comparison, DType, const void* a, const void* b, bool* y, std::int64_t count);
/// y[i] = a[i] ? b
void compare_with(Comparison, DType, const void* a, double b, bool* y, std::int64_t count);

/// An array, or with step 0 one element for all.
struct Choice {
  const void* data = nullptr;
  std::int64_t step = 1;
};
/// y[i] = condition[i] ? a[i] : b[i] for elements of `size` bytes: 2, 4 or 8.
void choose(std::int64_t size, const bool* condition, Choice a, Choice b, void* y,
            std::int64_t count);

}  // namespace tessera::cpu
