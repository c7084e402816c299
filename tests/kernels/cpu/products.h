// What the tests of matrix products share.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/tensor/dtype.h>
#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu::test {

/// A product of m by k and k by n numbers.
struct Product {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
};

/// `values` as a factor of so many rows and columns.
template <class T>
Matrix matrix(const std::vector<T>& values, bool transposed, std::int64_t rows,
              std::int64_t columns) {
  return transposed ? Matrix{values.data(), dtype_of<T>, 1, rows}
                    : Matrix{values.data(), dtype_of<T>, columns, 1};
}

template <class T>
T element(const Matrix& x, std::int64_t i, std::int64_t j) {
  return static_cast<const T*>(x.data)[i * x.row_stride + j * x.column_stride];
}

}  // namespace tessera::cpu::test
