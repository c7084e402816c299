// Serial kernels on rows, as each instruction set has them. Index 0 of a pair is f32, 1 is bf16.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/norm.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {

struct NormTable {
  /// Rows [first, first + count). Indices: dtype of x, dtype of y or dy.
  void (*forward[2][2])(const NormForward&, std::int64_t first, std::int64_t count);
  /// The same; adds the rows' parts to dscale[columns] and dshift[columns] unless null.
  void (*backward[2][2])(const NormBackward&, std::int64_t first, std::int64_t count, float* dscale,
                         float* dshift);
  /// sums[i] = sum over `rows` rows of x, in row order.
  void (*sum_rows[2])(const void* x, std::int64_t rows, std::int64_t columns, float* sums);
  /// The sum of x.
  float (*sum_block[2])(const void* x, std::int64_t count);
  /// into[i] += from[i]
  void (*add)(float* into, const float* from, std::int64_t count);
};

struct SoftmaxTable {
  /// Rows that follow each other. With `past`, y is better not brought into the caches.
  void (*forward[2])(const void* x, void* y, std::int64_t rows, std::int64_t columns,
                     bool logarithm, bool past);
  void (*backward[2])(const void* y, const void* dy, void* dx, std::int64_t rows,
                      std::int64_t columns, bool logarithm, bool past);
};

struct LossTable {
  /// Of one row; the plain sum only when asked for.
  RowStatistics (*statistics[2])(const void* x, std::int64_t columns, bool with_sum);
  /// dx[j] = (e^(x[j] - lse) - spread) · factor, and at `target` less `factor · peak` more.
  void (*gradient[2][2])(const void* x, void* dx, std::int64_t columns, const CrossEntropyRow&);
};

}  // namespace tessera::cpu
