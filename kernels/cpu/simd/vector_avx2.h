// Vectors of 8 floats in AVX registers, with fused multiply-add.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include <tessera/core/tensor/half.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr int kLanes = 8;
using VF = __m256;
using VI = std::int32_t __attribute__((vector_size(32), may_alias));

[[gnu::always_inline]] inline __m256i first(std::int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
[[gnu::always_inline]] inline VF set1(float x) {
  return _mm256_set1_ps(x);
}
[[gnu::always_inline]] inline VF zero() {
  return _mm256_setzero_ps();
}
[[gnu::always_inline]] inline VF load(const float* p) {
  return _mm256_loadu_ps(p);
}
[[gnu::always_inline]] inline VF load_n(const float* p, std::int64_t n) {
  return _mm256_maskload_ps(p, first(n));
}
[[gnu::always_inline]] inline void store(float* p, VF x) {
  _mm256_storeu_ps(p, x);
}
/// n < 8. Not by a mask: AMD's older cores take some forty operations for such a store.
[[gnu::always_inline]] inline void store_n(float* p, VF x, std::int64_t n) {
  __m128 rest = _mm256_castps256_ps128(x);
  if ((n & 4) != 0) {
    _mm_storeu_ps(p, rest);
    rest = _mm256_extractf128_ps(x, 1);
    p += 4;
  }
  if ((n & 2) != 0) {
    _mm_storel_pi(reinterpret_cast<__m64*>(p), rest);
    rest = _mm_movehl_ps(rest, rest);
    p += 2;
  }
  if ((n & 1) != 0) {
    _mm_store_ss(p, rest);
  }
}
/// Past the caches; p is aligned to the vector.
[[gnu::always_inline]] inline void stream(float* p, VF x) {
  _mm256_stream_ps(p, x);
}
[[gnu::always_inline]] inline void stream_end() {
  _mm_sfence();
}

[[gnu::always_inline]] inline VF load(const BFloat16* p) {
  const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
[[gnu::always_inline]] inline VF load_n(const BFloat16* p, std::int64_t n) {
  BFloat16 copy[8] = {};
  std::memcpy(copy, p, static_cast<std::size_t>(n) * sizeof(BFloat16));
  return load(copy);
}
/// The bits of x rounded to bf16 (nearest, ties to even; NaN kept), in the upper half.
[[gnu::always_inline]] inline __m256i round_bf16(VF x) {
  const __m256i word = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(word, 16), _mm256_set1_epi32(1));
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(word, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i quiet = _mm256_or_si256(word, _mm256_set1_epi32(0x400000));
  const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_blendv_epi8(sum, quiet, _mm256_castps_si256(nan));
}
[[gnu::always_inline]] inline VF as_bf16(VF x) {
  return _mm256_castsi256_ps(
      _mm256_and_si256(round_bf16(x), _mm256_set1_epi32(static_cast<int>(0xffff0000))));
}
[[gnu::always_inline]] inline void store(BFloat16* p, VF x) {
  const __m256i h = _mm256_srli_epi32(round_bf16(x), 16);
  const __m128i packed =
      _mm_packus_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), packed);
}
[[gnu::always_inline]] inline void store_n(BFloat16* p, VF x, std::int64_t n) {
  BFloat16 copy[8];
  store(copy, x);
  std::memcpy(p, copy, static_cast<std::size_t>(n) * sizeof(BFloat16));
}

[[gnu::always_inline]] inline VF fma(VF a, VF b, VF c) {
  return _mm256_fmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline VF fnma(VF a, VF b, VF c) {
  return _mm256_fnmadd_ps(a, b, c);
}
/// a > b ? a : b, so b where either is NaN.
[[gnu::always_inline]] inline VF max(VF a, VF b) {
  return _mm256_max_ps(a, b);
}
[[gnu::always_inline]] inline VF min(VF a, VF b) {
  return _mm256_min_ps(a, b);
}
[[gnu::always_inline]] inline VF sqrt(VF a) {
  return _mm256_sqrt_ps(a);
}
[[gnu::always_inline]] inline VF abs(VF a) {
  return _mm256_andnot_ps(set1(-0.0F), a);
}
/// |magnitude| with the sign bit of sign.
[[gnu::always_inline]] inline VF copysign(VF magnitude, VF sign) {
  return _mm256_or_ps(abs(magnitude), _mm256_and_ps(set1(-0.0F), sign));
}
/// a < b ? yes : no.
[[gnu::always_inline]] inline VF select_less(VF a, VF b, VF yes, VF no) {
  return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
/// Nearest integer, ties to even.
[[gnu::always_inline]] inline VF round(VF a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// 2^e
[[gnu::always_inline]] inline VF power_of_2(__m256i e) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
}
/// a · 2^n for integral n in [-126, 128], in two factors: 2^128 itself is infinite.
[[gnu::always_inline]] inline VF scale2(VF a, VF n) {
  const __m256i whole = _mm256_cvtps_epi32(n);
  const __m256i half = _mm256_srai_epi32(whole, 1);
  return a * power_of_2(half) * power_of_2(_mm256_sub_epi32(whole, half));
}
/// 2^n for an integral n in [-127, 127], where 2^-127 is taken as 0.
struct Power {
  VF n, factor;
  [[gnu::always_inline]] VF times(VF a) const { return a * factor; }
};
inline constexpr float kVanishes = -88.0F;  ///< e^x is 2^-127 times something from here on
/// n is nearest to x · y. Sums with this number have no fraction, and their last bits are n + 127:
/// a float's exponent.
[[gnu::always_inline]] inline Power power_near(VF x, VF y) {
  const VF whole = set1(0x1.8p23F + 127);
  const VF sum = fma(x, y, whole);
  return {sum - whole, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(sum), 23))};
}
/// The sum of all lanes, halves first.
[[gnu::always_inline]] inline float sum(VF a) {
  const __m128 q = _mm256_castps256_ps128(a) + _mm256_extractf128_ps(a, 1);
  const __m128 d = q + _mm_movehl_ps(q, q);
  return d[0] + d[1];
}
[[gnu::always_inline]] inline float largest(VF a) {
  const __m128 q = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 d = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return d[0] > d[1] ? d[0] : d[1];
}

/// Products of lanes 0, 2, ... of unsigned words with m, in 64 bits each.
[[gnu::always_inline]] inline VI even_products(VI a, std::uint32_t m) {
  return (VI)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32(static_cast<int>(m)));
}

}  // namespace tessera::cpu::TESSERA_ISA
