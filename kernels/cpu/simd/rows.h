// Serial kernels on rows, as each instruction set has them. Index 0 is f32, 1 is bf16, and 2, where
// there is one, f64.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/norm.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {

/// The functions of NormTable for f64.
struct NormTableF64 {
  void (*forward)(const NormForwardF64&, std::int64_t first, std::int64_t count);
  void (*backward)(const NormBackwardF64&, std::int64_t first, std::int64_t count, double* dscale,
                   double* dshift);
  void (*sum_rows)(const void* x, std::int64_t rows, std::int64_t columns, double* sums);
  double (*sum_block)(const void* x, std::int64_t count);
  void (*add)(double* into, const double* from, std::int64_t count);
};

struct NormTable {
  /// Rows [first, first + count). Indices: dtype of x, dtype of y or dy.
  void (*forward[2][2])(const NormForward&, std::int64_t first, std::int64_t count);
  /// Rows [first, first + count); adds their parts to dscale[columns] and dshift[columns] unless
  /// null. Indices as above.
  void (*backward[2][2])(const NormBackward&, std::int64_t first, std::int64_t count, float* dscale,
                         float* dshift);
  /// sums[i] = sum over `rows` rows of x, in row order.
  void (*sum_rows[2])(const void* x, std::int64_t rows, std::int64_t columns, float* sums);
  /// The sum of x.
  float (*sum_block[2])(const void* x, std::int64_t count);
  /// into[i] += from[i]
  void (*add)(float* into, const float* from, std::int64_t count);
  NormTableF64 f64;

  template <class Number>
  [[nodiscard]] auto add_of() const {
    if constexpr (sizeof(Number) == sizeof(double)) {
      return f64.add;
    } else {
      return add;
    }
  }
};

struct SoftmaxTable {
  /// Rows that follow each other. With `past`, y is better not brought into the caches.
  void (*forward[3])(const void* x, void* y, std::int64_t rows, std::int64_t columns,
                     bool logarithm, bool past);
  void (*backward[3])(const void* y, const void* dy, void* dx, std::int64_t rows,
                      std::int64_t columns, bool logarithm, bool past);
};

struct LossTable {
  /// What a row adds up to; the plain sum only when asked for.
  RowStatistics (*statistics[2])(const void* x, std::int64_t columns, bool with_sum);
  /// dx[j] = (e^(x[j] - lse) - spread) · factor, and at `target` less `factor · peak` more.
  void (*gradient[2][2])(const void* x, void* dx, std::int64_t columns, const CrossEntropyRow&);
  RowStatisticsOf<double> (*statistics_f64)(const void* x, std::int64_t columns, bool with_sum);
  void (*gradient_f64)(const void* x, void* dx, std::int64_t columns,
                       const CrossEntropyRowOf<double>&);
};

}  // namespace tessera::cpu
