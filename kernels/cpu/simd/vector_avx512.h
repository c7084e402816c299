// Vectors of 16 floats in AVX-512 registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include <tessera/core/tensor/half.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr int kLanes = 16;
using VF = __m512;
using VI = std::int32_t __attribute__((vector_size(64), may_alias));

[[gnu::always_inline]] inline __mmask16 first(std::int64_t n) {
  return static_cast<__mmask16>((1U << n) - 1U);
}
[[gnu::always_inline]] inline VF set1(float x) {
  return _mm512_set1_ps(x);
}
[[gnu::always_inline]] inline VF zero() {
  return _mm512_setzero_ps();
}
[[gnu::always_inline]] inline VF load(const float* p) {
  return _mm512_loadu_ps(p);
}
[[gnu::always_inline]] inline VF load_n(const float* p, std::int64_t n) {
  return _mm512_maskz_loadu_ps(first(n), p);
}
[[gnu::always_inline]] inline void store(float* p, VF x) {
  _mm512_storeu_ps(p, x);
}
[[gnu::always_inline]] inline void store_n(float* p, VF x, std::int64_t n) {
  _mm512_mask_storeu_ps(p, first(n), x);
}
/// Past the caches; p is aligned to the vector.
[[gnu::always_inline]] inline void stream(float* p, VF x) {
  _mm512_stream_ps(p, x);
}
[[gnu::always_inline]] inline void stream_end() {
  _mm_sfence();
}

[[gnu::always_inline]] inline VF widen(__m256i h) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
[[gnu::always_inline]] inline VF load(const BFloat16* p) {
  return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
[[gnu::always_inline]] inline VF load_n(const BFloat16* p, std::int64_t n) {
  return widen(_mm256_maskz_loadu_epi16(first(n), p));
}
/// The bits of x rounded to bf16 (nearest, ties to even; NaN kept), in the upper half.
[[gnu::always_inline]] inline __m512i round_bf16(VF x) {
  const __m512i word = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(word, 16), _mm512_set1_epi32(1));
  const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(sum, nan, word, _mm512_set1_epi32(0x400000));
}
[[gnu::always_inline]] inline VF as_bf16(VF x) {
  return _mm512_castsi512_ps(
      _mm512_and_si512(round_bf16(x), _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}
[[gnu::always_inline]] inline void store(BFloat16* p, VF x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtepi32_epi16(_mm512_srli_epi32(round_bf16(x), 16)));
}
[[gnu::always_inline]] inline void store_n(BFloat16* p, VF x, std::int64_t n) {
  _mm512_mask_cvtepi32_storeu_epi16(p, first(n), _mm512_srli_epi32(round_bf16(x), 16));
}

[[gnu::always_inline]] inline VF fma(VF a, VF b, VF c) {
  return _mm512_fmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline VF fnma(VF a, VF b, VF c) {
  return _mm512_fnmadd_ps(a, b, c);
}
/// a > b ? a : b, so b where either is NaN.
[[gnu::always_inline]] inline VF max(VF a, VF b) {
  return _mm512_max_ps(a, b);
}
[[gnu::always_inline]] inline VF min(VF a, VF b) {
  return _mm512_min_ps(a, b);
}
[[gnu::always_inline]] inline VF sqrt(VF a) {
  return _mm512_sqrt_ps(a);
}
[[gnu::always_inline]] inline VF abs(VF a) {
  return _mm512_abs_ps(a);
}
/// |magnitude| with the sign bit of sign.
[[gnu::always_inline]] inline VF copysign(VF magnitude, VF sign) {
  const __m512 bit = _mm512_set1_ps(-0.0F);
  return _mm512_or_ps(_mm512_andnot_ps(bit, magnitude), _mm512_and_ps(bit, sign));
}
/// a < b ? yes : no.
[[gnu::always_inline]] inline VF select_less(VF a, VF b, VF yes, VF no) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}
/// Nearest integer, ties to even.
[[gnu::always_inline]] inline VF round(VF a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// a · 2^n for integral n in [-126, 128].
[[gnu::always_inline]] inline VF scale2(VF a, VF n) {
  return _mm512_scalef_ps(a, n);
}
/// 2^n for an integral n; a product may be subnormal.
struct Power {
  VF n;
  [[gnu::always_inline]] VF times(VF a) const { return scale2(a, n); }
};
inline constexpr float kVanishes = -126.0F;  ///< e^x is less than any float
/// n is nearest to x · y.
[[gnu::always_inline]] inline Power power_near(VF x, VF y) {
  return {round(x * y)};
}
[[gnu::always_inline]] inline float sum_8(__m256 h) {
  const __m128 q = _mm256_castps256_ps128(h) + _mm256_extractf128_ps(h, 1);
  const __m128 d = q + _mm_movehl_ps(q, q);
  return d[0] + d[1];
}
/// The sum of all lanes, halves first.
[[gnu::always_inline]] inline float sum(VF a) {
  return sum_8(_mm512_castps512_ps256(a) + _mm512_extractf32x8_ps(a, 1));
}
[[gnu::always_inline]] inline float largest(VF a) {
  return _mm512_reduce_max_ps(a);
}

/// Products of lanes 0, 2, ... of unsigned words with m, in 64 bits each.
[[gnu::always_inline]] inline VI even_products(VI a, std::uint32_t m) {
  return (VI)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi32(static_cast<int>(m)));
}

}  // namespace tessera::cpu::TESSERA_ISA
