// Rows of a table by id, and the gradient of that: rows summed by id.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// y[i, :] = table[ids[i], :], the table of float or double converted to y's dtype: its own, or
/// bf16 of float. Throws InvalidArgument for an id outside [0, table_rows), naming position and
/// value.
template <class Number>
void embedding_forward(const Number* table, std::int64_t table_rows, std::int64_t columns,
                       const std::int64_t* ids, std::int64_t count, DType dtype, void* y);

/// Adds rows dy[i, :] to gradient[ids[i], :].
///
/// For each id the rows of a microbatch (`count / cuts` tokens) are summed in token order, and the
/// sums of microbatches in which the id occurs along the balanced binary tree (absent ones count
/// as +0); that total is then added to what `gradient` holds.
template <class Number>
struct EmbeddingGradientOf {
  const std::int64_t* ids = nullptr;  ///< [count]
  const void* dy = nullptr;           ///< [count, columns], f32 or bf16, or f64
  DType dtype = dtype_of<Number>;
  std::int64_t count = 0, columns = 0, table_rows = 0;
  std::int64_t cuts = 1;
  Number* gradient = nullptr;  ///< [table_rows, columns]
};
using EmbeddingGradient = EmbeddingGradientOf<float>;
template <class Number>
void embedding_backward(const EmbeddingGradientOf<Number>&);

}  // namespace tessera::cpu
