// Matrix products: C[m, n] = A[m, k] · B[k, n], any strides; f32 or bf16 in memory with sums in
// f32, or all of it f64.
//
// Every element of C is one chain of multiply-adds over k in ascending order (bf16 dot-product
// units take k in pairs), whatever the tiles. So bits depend neither on threads nor on how many
// rows or columns there are; only `cuts` and `chunk` change the order of summation.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// Element (i, j) lies at data[i * row_stride + j * column_stride]; f32, bf16 or f64.
struct Matrix {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  [[nodiscard]] Matrix transposed() const { return {data, dtype, column_stride, row_stride}; }
};

struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Matrix a;                    ///< [m, k]
  Matrix b;                    ///< [k, n]
  void* c = nullptr;           ///< [m, n], rows `c_stride` apart, columns contiguous
  DType c_dtype = DType::f32;  ///< f32 or bf16; f64 where A and B are
  std::int64_t c_stride = 0;
  const void* bias = nullptr;  ///< [n], added to every row last; f32, or f64 as the rest is
  DType compute = DType::f32;  ///< bf16: factors are rounded to bf16, sums are f32; f64: all is
  bool accumulate = false;     ///< C += the sum, which is formed from 0 first; c_dtype not bf16

  /// k is `cuts` equal parts, each summed by itself, added along the balanced binary tree.
  std::int64_t cuts = 1;
  /// Inside a part, the sum starts anew after every `chunk` of k; pieces are added in order.
  std::int64_t chunk = 0;
  /// C is [cuts, m, n], `cut_stride` elements apart, and gets the parts unsummed.
  bool per_microbatch = false;
  std::int64_t cut_stride = 0;
};

/// Carries it out on the thread pool (inline inside a pool task). Throws InvalidArgument.
void gemm(const Gemm&);

/// `count` products whose operands lie `a_step`, `b_step`, `c_step` elements apart.
struct GemmBatch {
  Gemm first;
  std::int64_t count = 1;
  std::int64_t a_step = 0, b_step = 0, c_step = 0;
};
void gemm(const GemmBatch&);

}  // namespace tessera::cpu
