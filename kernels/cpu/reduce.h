// Sums along the last dim. Sums over rows are in row_sums.h.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// sums[r] = sum of row r of x[rows, columns] (f32, bf16 or f64). Blocks of 1024 columns are added
/// up in f32, of f64 in f64, their sums in order in double.
void sum_last(DType, const void* x, std::int64_t rows, std::int64_t columns, double* sums);

}  // namespace tessera::cpu
