// Parts of matrices as dense matrices, for products that need them so.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu {

struct Submatrix {
  std::int64_t row = 0, rows = 0;
  std::int64_t column = 0, columns = 0;
};

/// The part in `dtype`, rounded or widened: the matrix's own memory where it is dense
/// there, in either order, else a copy in this thread's scratch for `purpose`.
[[nodiscard]] Matrix dense_submatrix(const Matrix&, const Submatrix&, DType dtype, Scratch purpose);

}  // namespace tessera::cpu
