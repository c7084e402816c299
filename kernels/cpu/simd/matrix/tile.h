// The register tile. After simd/begin.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/kernels/cpu/simd/matrix/words.h>

namespace tessera::cpu::TESSERA_ISA {

#if TESSERA_ISA_LEVEL >= 2
inline constexpr int kTileRows = 12;  // 24 sums + 2 of B of 32 registers; A comes as broadcasts
#elif TESSERA_ISA_LEVEL == 1
inline constexpr int kTileRows = 6;  // 12 sums + 2 + 1 of 16 registers
#else
inline constexpr int kTileRows = 4;  // the product needs a register of its own
#endif
inline constexpr int kTileVectors = 2;
inline constexpr int kTileColumns = kTileVectors * kLanes;
inline constexpr int kTileColumnsF64 = kTileColumns / 2;

/// Factors as they are.
struct PlainProduct {
  using Vector = VF;
  [[gnu::always_inline]] static VF multiply_add(VF a, VF b, VF c) { return fma(a, b, c); }
};
/// Factors of f64 as they are.
struct DoubleProduct {
  using Vector = VD;
  [[gnu::always_inline]] static VD multiply_add(VD a, VD b, VD c) { return fma(a, b, c); }
};
#if TESSERA_ISA_LEVEL >= 3
struct PairProduct {
  using Vector = VF;
  [[gnu::always_inline]] static VF multiply_add(VF a, VF b, VF c) {
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
  }
};
#endif

/// Brings nothing near.
struct NothingAhead {
  [[gnu::always_inline]] void operator()(std::int64_t) const {}
};

/// The value of A for row i and step k lies at a[i * row_stride + k * step_stride]. Chains go on
/// from what is in C if `add`, and what they give is added to it if `onto`. `ahead(k)` is called
/// beside step k, to fetch what is multiplied later.
template <class Product, int kRows, class T, class Fetch = NothingAhead>
[[gnu::always_inline]] inline void multiply_tile(std::int64_t words, const T* a,
                                                 std::int64_t row_stride, std::int64_t step_stride,
                                                 const T* b, std::int64_t b_stride, T* c,
                                                 std::int64_t stride, bool add,
                                                 const Fetch& ahead = {}, bool onto = false) {
  using V = typename Product::Vector;
  constexpr int kValues = sizeof(V) / sizeof(T);
  V sums[kRows][kTileVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kTileVectors; ++j) {
      sums[i][j] = add ? load(c + i * stride + j * kValues) : V{};
    }
  }
#pragma GCC unroll 2  // measured on a Zen 3: 1.08 times as fast with 2 threads; 4 adds nothing
  for (std::int64_t k = 0; k < words; ++k) {
    ahead(k);
    V columns[kTileVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kTileVectors; ++j) {
      columns[j] = load(b + j * kValues);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V row = set1(a[i * row_stride]);
#pragma GCC unroll 2
      for (int j = 0; j < kTileVectors; ++j) {
        sums[i][j] = Product::multiply_add(row, columns[j], sums[i][j]);
      }
    }
    a += step_stride;
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kTileVectors; ++j) {
      T* to = c + i * stride + j * kValues;
      store(to, onto ? load(to) + sums[i][j] : sums[i][j]);
    }
  }
}

/// Calls f(constant) for `rows` in [1, kMost]: there is a tile of each height, so that no row is
/// computed in vain.
template <int kMost, class F>
[[gnu::always_inline]] inline void with_height(std::int64_t rows, const F& f) {
  if constexpr (kMost > 1) {
    if (rows < kMost) {
      with_height<kMost - 1>(rows, f);
      return;
    }
  }
  f(std::integral_constant<int, kMost>{});
}

}  // namespace tessera::cpu::TESSERA_ISA
