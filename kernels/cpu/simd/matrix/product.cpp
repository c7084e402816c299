#include <cstdint>
#include <type_traits>

#include <tessera/core/tensor/dtype.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/matrix/pack.h>
#include <tessera/kernels/cpu/simd/matrix/tile.h>
#include <tessera/kernels/cpu/simd/matrix/words.h>
#if TESSERA_ISA_LEVEL == 4
#include <tessera/kernels/cpu/simd/matrix/amx_pack.h>
#include <tessera/kernels/cpu/simd/matrix/amx_tile.h>
#endif

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// Two copies of the tile, so that a branch lies in front of its stores and not in each.
template <class Product, int kRows, class T>
void multiply_panels(std::int64_t words, const T* a, const T* b, T* c, std::int64_t stride,
                     TileSum sum, const Ahead& ahead) {
  constexpr int kColumns = kTileVectors * sizeof(typename Product::Vector) / sizeof(T);
  if (sum == TileSum::added) {
    multiply_tile<Product, kRows>(words, a, 1, kTileRows, b, kColumns, c, stride, false, ahead,
                                  true);
  } else {
    multiply_tile<Product, kRows>(words, a, 1, kTileRows, b, kColumns, c, stride,
                                  sum == TileSum::continued, ahead);
  }
}

template <class Product, class T>
void tile(std::int64_t height, std::int64_t words, const WordOf<T>* a, const WordOf<T>* b, T* c,
          std::int64_t stride, TileSum sum, const Ahead& ahead) {
  with_height<kTileRows>(height, [&]<int kRows>(std::integral_constant<int, kRows>) {
    multiply_panels<Product, kRows>(words, reinterpret_cast<const T*>(a),
                                    reinterpret_cast<const T*>(b), c, stride, sum, ahead);
  });
}

template <class Words, class Product>
constexpr ProductKernel kernel() {
  return {.rows = kTileRows,
          .columns = kTileColumns,
          .depth_per_word = Words::kDepth,
          .pack_rows = pack<Words, kTileRows>,
          .pack_columns = pack<Words, kTileColumns>,
          .tile = tile<Product, float>,
          .adds = true,
          .any_height = true};
}

/// By AVX2 a panel of A takes 12 KiB and one of B 16: both stay in the first cache.
constexpr ProductKernelOf<double> kDouble{.rows = kTileRows,
                                          .columns = kTileColumnsF64,
                                          .words_at_once = 256,
                                          .pack_rows = pack<PlainWords, kTileRows>,
                                          .pack_columns = pack<PlainWords, kTileColumnsF64>,
                                          .tile = tile<DoubleProduct, double>,
                                          .adds = true,
                                          .any_height = true};

template <int kRows>
void small_rows(const SmallProduct& p, std::int64_t row) {
  for (std::int64_t j = 0; j < p.n; j += kTileColumns) {
    multiply_tile<PlainProduct, kRows>(p.k, p.a + row * p.a_row, p.a_row, p.a_step,
                                       p.b + j / kTileColumns * p.b_panel, p.b_step,
                                       p.c + row * p.c_stride + j, p.c_stride, false);
  }
}

void small(const SmallProduct& p) {
  for (std::int64_t row = 0; row < p.m; row += kTileRows) {
    with_height<kTileRows>(p.m - row, [&]<int kRows>(std::integral_constant<int, kRows>) {
      small_rows<kRows>(p, row);
    });
  }
}

template <class T>
void finish_rows(const TileOut<float>& out) {
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const float* sums = out.sums + i * out.stride;
    T* c = static_cast<T*>(out.c) + i * out.c_stride;
    for (std::int64_t j = 0; j < out.columns; j += kLanes) {
      const std::int64_t left = out.columns - j;
      VF x = load_some(sums + j, left);
      if (out.more != nullptr) {
        x = x + load_some(out.more + i * out.stride + j, left);
      }
      if (out.bias != nullptr) {
        x = x + load_some(out.bias + j, left);
      }
      if (out.accumulate) {
        x = load_some(c + j, left) + x;
      }
      write(c + j, x, left < kLanes ? left : kLanes, out.past_caches && is_aligned(c + j));
    }
  }
  if (out.past_caches) {
    stream_end();
  }
}

void finish(const TileOut<float>& out) {
  if (out.c_dtype == DType::bf16) {
    finish_rows<BFloat16>(out);
  } else {
    finish_rows<float>(out);
  }
}

void finish_f64(const TileOut<double>& out) {
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const double* sums = out.sums + i * out.stride;
    double* c = static_cast<double*>(out.c) + i * out.c_stride;
    for (std::int64_t j = 0; j < out.columns; ++j) {
      const double sum = out.more == nullptr ? sums[j] : sums[j] + out.more[i * out.stride + j];
      const double x = out.bias == nullptr ? sum : sum + out.bias[j];
      c[j] = out.accumulate ? c[j] + x : x;
    }
  }
}

#if TESSERA_ISA_LEVEL == 4
void amx_tile(std::int64_t, std::int64_t words, const std::uint32_t* a, const std::uint32_t* b,
              float* c, std::int64_t stride, TileSum sum, const Ahead&) {
  multiply_amx<2 * kAmxRows>(words, {a, kAmxWords, kAmxRun}, b, c, stride, sum != TileSum::fresh);
}

constexpr ProductKernel kHalf{.rows = kAmxPanel,
                              .columns = kTileColumns,
                              .depth_per_word = PairWords::kDepth,
                              .words_of_run = kAmxWords,
                              .words_at_once = 128,
                              .pack_rows = pack_amx_rows,
                              .pack_columns = pack<PairWords, kTileColumns, kAmxWords>,
                              .tile = amx_tile,
                              .begin = begin_amx};
#elif TESSERA_ISA_LEVEL == 3
constexpr ProductKernel kHalf = kernel<PairWords, PairProduct>();
#else
constexpr ProductKernel kHalf = kernel<RoundedWords, PlainProduct>();
#endif
constexpr ProductTable kProductTable{
    kernel<PlainWords, PlainProduct>(), kHalf, kDouble, finish, finish_f64, small};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kAdded = IsaTable<ProductTable>::add(Isa::TESSERA_ISA, &kProductTable);
}
