// Where the tables of kernels keep what they have for a dtype.
#pragma once

#include <cstddef>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// The place of a dtype: 0 for f32, 1 for bf16. Throws Unsupported for any other: its ops ask no
/// table.
[[nodiscard]] inline std::size_t dtype_index(DType dtype) {
  check<Unsupported>(dtype == DType::f32 || dtype == DType::bf16,
                     "kernel table: dtype not supported; got ", dtype, ", expected f32 or bf16");
  return dtype == DType::bf16 ? 1 : 0;
}

/// The place of a dtype in a table that has kernels for f64 too: 2 for that.
[[nodiscard]] inline std::size_t kind_index(DType dtype) {
  return dtype == DType::f64 ? 2 : dtype_index(dtype);
}

}  // namespace tessera::cpu
