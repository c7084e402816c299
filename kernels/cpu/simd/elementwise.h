// Serial elementwise kernels on ranges, as each instruction set has them.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/elementwise.h>

namespace tessera::cpu {

struct ElementwiseTable {
  using UnaryRange = void (*)(const void* x, void* y, std::int64_t count);
  using BinaryRange = void (*)(const void* a, const void* b, void* y, std::int64_t count);
  using ParametricRange = void (*)(const void* x, const Parameters& p, void* y, std::int64_t count);
  using ScalarRange = void (*)(const void* a, double b, void* y, std::int64_t count);

  UnaryRange unary[3][static_cast<int>(Unary::count)];  ///< by kind_index
  BinaryRange backward[3][static_cast<int>(UnaryBackward::count)];
  BinaryRange binary[3][static_cast<int>(Binary::count)];
  ParametricRange parametric[3][static_cast<int>(Parametric::count)];
  BinaryRange mixed[static_cast<int>(Binary::count)];  ///< a and y f32, b bf16
  ScalarRange scalar[3][static_cast<int>(Binary::count)];
  UnaryRange to_bf16;
  UnaryRange to_f32;
};

}  // namespace tessera::cpu
