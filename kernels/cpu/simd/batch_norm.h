// Serial batch norm of some channels, as each instruction set has it.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/batch_norm.h>

namespace tessera::cpu {

/// Channels [first, first + count). Indices: dtype of x, dtype of y or dy; 0 is f32, 1 is bf16.
struct BatchNormTable {
  void (*forward[2][2])(const BatchNormForward&, std::int64_t first, std::int64_t count);
  void (*backward[2][2])(const BatchNormBackward&, std::int64_t first, std::int64_t count);
  void (*forward_f64)(const BatchNormForwardF64&, std::int64_t first, std::int64_t count);
  void (*backward_f64)(const BatchNormBackwardF64&, std::int64_t first, std::int64_t count);
};

}  // namespace tessera::cpu
