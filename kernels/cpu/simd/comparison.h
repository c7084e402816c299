// Serial comparisons and choices on ranges, as each instruction set has them.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/comparison.h>

namespace tessera::cpu {

struct ComparisonTable {
  using Arrays = void (*)(const void* a, const void* b, bool* y, std::int64_t count);
  using Number = void (*)(const void* a, double b, bool* y, std::int64_t count);
  using Choose = void (*)(const bool* condition, const void* a, const void* b, void* y,
                          std::int64_t count);

  Arrays arrays[3][static_cast<int>(Comparison::count)];  ///< by kind_index
  Number number[3][static_cast<int>(Comparison::count)];
  Choose choose[3][2][2];  ///< 4, 2 or 8 bytes; whether a, b are one element each
};

}  // namespace tessera::cpu
