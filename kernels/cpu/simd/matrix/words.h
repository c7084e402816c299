// How values become the 32-bit words that the register tiles multiply. After simd/begin.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/transpose.h>

namespace tessera::cpu::TESSERA_ISA {

[[gnu::always_inline]] inline VF load_some(const float* p, std::int64_t n) {
  return n >= kLanes ? load(p) : load_n(p, n < 0 ? 0 : n);
}
[[gnu::always_inline]] inline VF load_some(const BFloat16* p, std::int64_t n) {
  return n >= kLanes ? load(p) : load_n(p, n < 0 ? 0 : n);
}
[[gnu::always_inline]] inline VD load_some(const double* p, std::int64_t n) {
  return n >= kLanesF64 ? load(p) : load_n(p, n < 0 ? 0 : n);
}

/// A word is a float, or a double.
struct PlainWords {
  static constexpr int kDepth = 1;
  template <class T>
  [[gnu::always_inline]] static VectorOf<T> along(const T* p, std::int64_t n) {
    return load_some(p, n);
  }
  template <class T>
  [[gnu::always_inline]] static VectorOf<T> across(const T* p, const T*, std::int64_t n) {
    return load_some(p, n);
  }
};

/// A word is a float that holds a value rounded to bf16.
struct RoundedWords {
  static constexpr int kDepth = 1;
  [[gnu::always_inline]] static VF along(const float* p, std::int64_t n) {
    return as_bf16(load_some(p, n));
  }
  [[gnu::always_inline]] static VF along(const BFloat16* p, std::int64_t n) {
    return load_some(p, n);
  }
  template <class T>
  [[gnu::always_inline]] static VF across(const T* p, const T*, std::int64_t n) {
    return along(p, n);
  }
};

#if TESSERA_ISA_LEVEL >= 3
/// A word is two bf16, k in the lower half and k + 1 in the upper. The conversion makes denormals
/// 0, as the product would.
struct PairWords {
  static constexpr int kDepth = 2;
  /// `n` values of k, of one row.
  [[gnu::always_inline]] static VF along(const float* p, std::int64_t n) {
    return (VF)_mm512_cvtne2ps_pbh(load_some(p + kLanes, n - kLanes), load_some(p, n));
  }
  [[gnu::always_inline]] static VF along(const BFloat16* p, std::int64_t n) {
    if (n >= 2 * kLanes) {
      return _mm512_castsi512_ps(_mm512_loadu_si512(p));
    }
    const auto mask = static_cast<__mmask32>((1ULL << (n < 0 ? 0 : n)) - 1U);
    return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(mask, p));
  }
  /// Words of `n` rows or columns at k (p) and k + 1 (q; null past the end).
  [[gnu::always_inline]] static VF across(const float* p, const float* q, std::int64_t n) {
    const VF high = q == nullptr ? zero() : load_some(q, n);
    return interleave((__m512i)_mm512_cvtne2ps_pbh(high, load_some(p, n)));
  }
  [[gnu::always_inline]] static VF across(const BFloat16* p, const BFloat16* q, std::int64_t n) {
    const __m256i high = q == nullptr ? _mm256_setzero_si256() : bits(q, n);
    return interleave(_mm512_inserti64x4(_mm512_castsi256_si512(bits(p, n)), high, 1));
  }

 private:
  [[gnu::always_inline]] static __m256i bits(const BFloat16* p, std::int64_t n) {
    if (n >= kLanes) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    return _mm256_maskz_loadu_epi16(first(n < 0 ? 0 : n), p);
  }
  /// Words from the lower halves of all, followed by the upper halves of all words.
  [[gnu::always_inline]] static VF interleave(__m512i halves) {
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(order, halves));
  }
};
#endif

}  // namespace tessera::cpu::TESSERA_ISA
