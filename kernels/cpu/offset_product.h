// Products of f64 whose right factor lies in memory by sums of offsets, as the windows of a padded
// image do: a matrix of windows is packed from the image itself and never written.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu {

/// Element (k, n) lies at data[rows[k] + columns[n]].
struct OffsetMatrix {
  const double* data = nullptr;
  std::vector<std::int64_t> rows, columns;
};

/// C[m, n] = A[m, k] · B[k, n], each element one chain of multiply-adds over k in order; a bias is
/// added last. Element (i, j) of C lies at c[i * c_row + c_columns[j]].
struct OffsetProduct {
  std::int64_t m = 0;
  Matrix a;  ///< f64 of any strides
  OffsetMatrix b;
  double* c = nullptr;
  std::int64_t c_row = 0;
  std::vector<std::int64_t> c_columns;
  const double* bias = nullptr;  ///< [m], may be null
};

/// Carries it out on the thread pool, a run of columns a task.
void multiply(const OffsetProduct&);

}  // namespace tessera::cpu
