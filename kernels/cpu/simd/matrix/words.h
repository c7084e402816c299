// How values become the 32-bit words that the register tiles multiply. After simd/begin.h.
#pragma once

#include <cstdint>

namespace tessera::cpu::TESSERA_ISA {

[[gnu::always_inline]] inline VF load_some(const float* p, std::int64_t n) {
  return n >= kLanes ? load(p) : load_n(p, n < 0 ? 0 : n);
}
[[gnu::always_inline]] inline VF load_some(const BFloat16* p, std::int64_t n) {
  return n >= kLanes ? load(p) : load_n(p, n < 0 ? 0 : n);
}

/// A word is a float.
struct PlainWords {
  static constexpr int kDepth = 1;
  template <class T>
  [[gnu::always_inline]] static VF along(const T* p, std::int64_t n) {
    return load_some(p, n);
  }
  template <class T>
  [[gnu::always_inline]] static VF across(const T* p, const T*, std::int64_t n) {
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

#if TESSERA_ISA_LEVEL == 3
/// A word is two bf16, k in the lower half and k + 1 in the upper.
struct PairWords {
  static constexpr int kDepth = 2;
  /// `n` values of k, of one row.
  [[gnu::always_inline]] static VF along(const float* p, std::int64_t n) {
    const __m512i low = round_bf16(load_some(p, n));
    const __m512i high = round_bf16(load_some(p + kLanes, n - kLanes));
    const __m512i odd_halves =
        _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27,
                         25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_castsi512_ps(_mm512_permutex2var_epi16(low, odd_halves, high));
  }
  [[gnu::always_inline]] static VF along(const BFloat16* p, std::int64_t n) {
    if (n >= 2 * kLanes) {
      return _mm512_castsi512_ps(_mm512_loadu_si512(p));
    }
    const auto mask = static_cast<__mmask32>((1ULL << (n < 0 ? 0 : n)) - 1U);
    return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(mask, p));
  }
  /// The same row or column at k (p) and k + 1 (q; null past the end).
  template <class T>
  [[gnu::always_inline]] static VF across(const T* p, const T* q, std::int64_t n) {
    const __m512i low = _mm512_srli_epi32(round_bf16(load_some(p, n)), 16);
    if (q == nullptr) {
      return _mm512_castsi512_ps(low);
    }
    const __m512i high = round_bf16(load_some(q, n));
    return _mm512_castsi512_ps(_mm512_mask_blend_epi16(0xaaaaaaaaU, low, high));
  }
};
#endif

/// Transposes a square of words in registers: log2 rounds of interleaving rows i and i + half.
[[gnu::always_inline]] inline void transpose(VF (&r)[kLanes]) {
  VI low{}, high{};
  for (int i = 0; i < kLanes; ++i) {
    low[i] = (i / 2) + (i % 2) * kLanes;
    high[i] = low[i] + kLanes / 2;
  }
  VF next[kLanes];
  for (int round = 1; round < kLanes; round *= 2) {
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = __builtin_shuffle(r[i], r[i + kLanes / 2], low);
      next[2 * i + 1] = __builtin_shuffle(r[i], r[i + kLanes / 2], high);
    }
    for (int i = 0; i < kLanes; ++i) {
      r[i] = next[i];
    }
  }
}

}  // namespace tessera::cpu::TESSERA_ISA
