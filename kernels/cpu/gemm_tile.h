// One tile of C: packs its part of B, multiplies (or lets a library do both), and adds pieces in
// their fixed order.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/gemm_plan.h>
#include <tessera/kernels/cpu/product_library.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

namespace tessera::cpu {

template <class Sum>
struct GemmBlock {
  using Word = WordOf<Sum>;
  const Gemm* gemm = nullptr;
  const GemmPlan* plan = nullptr;
  const ProductKernelOf<Sum>* kernel = nullptr;
  void (*finish)(const TileOut<Sum>&) = nullptr;
  const ProductLibrary* products = nullptr;  ///< computes in place of `kernel`; nothing is packed
  std::int64_t row = 0, rows = 0;            ///< of A, packed below
  const Word* packed_rows = nullptr;
  const Word* packed_columns = nullptr;  ///< with GemmPlan::share_columns
};

/// Computes rows [row, row + rows) (relative to the block) and columns [column, column + columns).
template <class Sum>
void gemm_tile(const GemmBlock<Sum>&, std::int64_t row, std::int64_t rows, std::int64_t column,
               std::int64_t columns);

}  // namespace tessera::cpu
