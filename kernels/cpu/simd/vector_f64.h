// Vectors of doubles: half as many lanes as vectors of floats have. After the vectors of floats.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr int kLanesF64 = kLanes / 2;

#if TESSERA_ISA_LEVEL >= 2
using VD = __m512d;

[[gnu::always_inline]] inline VD set1(double x) {
  return _mm512_set1_pd(x);
}
[[gnu::always_inline]] inline VD load(const double* p) {
  return _mm512_loadu_pd(p);
}
[[gnu::always_inline]] inline __mmask8 first_f64(std::int64_t n) {
  return static_cast<__mmask8>((1U << n) - 1);
}
[[gnu::always_inline]] inline VD load_n(const double* p, std::int64_t n) {
  return _mm512_maskz_loadu_pd(first_f64(n), p);
}
[[gnu::always_inline]] inline void store(double* p, VD x) {
  _mm512_storeu_pd(p, x);
}
[[gnu::always_inline]] inline void store_n(double* p, VD x, std::int64_t n) {
  _mm512_mask_storeu_pd(p, first_f64(n), x);
}
[[gnu::always_inline]] inline void stream(double* p, VD x) {
  _mm512_stream_pd(p, x);
}
[[gnu::always_inline]] inline VD low_double(VF a) {
  return _mm512_cvtps_pd(_mm512_castps512_ps256(a));
}
[[gnu::always_inline]] inline VD high_double(VF a) {
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
}
[[gnu::always_inline]] inline VD fma(VD a, VD b, VD c) {
  return _mm512_fmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline VD fnma(VD a, VD b, VD c) {
  return _mm512_fnmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline VD max(VD a, VD b) {
  return _mm512_max_pd(a, b);
}
[[gnu::always_inline]] inline VD min(VD a, VD b) {
  return _mm512_min_pd(a, b);
}
[[gnu::always_inline]] inline VD sqrt(VD a) {
  return _mm512_sqrt_pd(a);
}
[[gnu::always_inline]] inline double sum(VD a) {
  const __m256d h = _mm512_castpd512_pd256(a) + _mm512_extractf64x4_pd(a, 1);
  return (h[0] + h[2]) + (h[1] + h[3]);
}

#elif TESSERA_ISA_LEVEL == 1
using VD = __m256d;

[[gnu::always_inline]] inline VD set1(double x) {
  return _mm256_set1_pd(x);
}
[[gnu::always_inline]] inline VD load(const double* p) {
  return _mm256_loadu_pd(p);
}
[[gnu::always_inline]] inline VD load_n(const double* p, std::int64_t n) {
  const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  return _mm256_maskload_pd(p, mask);
}
[[gnu::always_inline]] inline void store(double* p, VD x) {
  _mm256_storeu_pd(p, x);
}
/// n < 4; not by a mask, as for floats.
[[gnu::always_inline]] inline void store_n(double* p, VD x, std::int64_t n) {
  __m128d rest = _mm256_castpd256_pd128(x);
  if ((n & 2) != 0) {
    _mm_storeu_pd(p, rest);
    rest = _mm256_extractf128_pd(x, 1);
    p += 2;
  }
  if ((n & 1) != 0) {
    _mm_store_sd(p, rest);
  }
}
[[gnu::always_inline]] inline void stream(double* p, VD x) {
  _mm256_stream_pd(p, x);
}
[[gnu::always_inline]] inline VD low_double(VF a) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(a));
}
[[gnu::always_inline]] inline VD high_double(VF a) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
}
[[gnu::always_inline]] inline VD fma(VD a, VD b, VD c) {
  return _mm256_fmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline VD fnma(VD a, VD b, VD c) {
  return _mm256_fnmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline VD max(VD a, VD b) {
  return _mm256_max_pd(a, b);
}
[[gnu::always_inline]] inline VD min(VD a, VD b) {
  return _mm256_min_pd(a, b);
}
[[gnu::always_inline]] inline VD sqrt(VD a) {
  return _mm256_sqrt_pd(a);
}
[[gnu::always_inline]] inline double sum(VD a) {
  return (a[0] + a[2]) + (a[1] + a[3]);
}

#else
using VD = double __attribute__((vector_size(16), may_alias));

[[gnu::always_inline]] inline VD set1(double x) {
  return VD{x, x};
}
[[gnu::always_inline]] inline VD load(const double* p) {
  VD x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}
[[gnu::always_inline]] inline VD load_n(const double* p, std::int64_t n) {
  VD x{};
  std::memcpy(&x, p, static_cast<std::size_t>(n) * sizeof(double));
  return x;
}
[[gnu::always_inline]] inline void store(double* p, VD x) {
  std::memcpy(p, &x, sizeof(x));
}
[[gnu::always_inline]] inline void store_n(double* p, VD x, std::int64_t n) {
  std::memcpy(p, &x, static_cast<std::size_t>(n) * sizeof(double));
}
[[gnu::always_inline]] inline void stream(double* p, VD x) {
  store(p, x);
}
[[gnu::always_inline]] inline VD low_double(VF a) {
  return VD{a[0], a[1]};
}
[[gnu::always_inline]] inline VD high_double(VF a) {
  return VD{a[2], a[3]};
}
[[gnu::always_inline]] inline VD fma(VD a, VD b, VD c) {
  return a * b + c;
}
[[gnu::always_inline]] inline VD fnma(VD a, VD b, VD c) {
  return c - a * b;
}
[[gnu::always_inline]] inline VD max(VD a, VD b) {
  return a > b ? a : b;
}
[[gnu::always_inline]] inline VD min(VD a, VD b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline VD sqrt(VD a) {
  return VD{std::sqrt(a[0]), std::sqrt(a[1])};
}
[[gnu::always_inline]] inline double sum(VD a) {
  return a[0] + a[1];
}
#endif

/// The bits of doubles.
using VU64 = std::uint64_t __attribute__((vector_size(sizeof(VD)), may_alias));
using VL = std::int64_t __attribute__((vector_size(sizeof(VD)), may_alias));

[[gnu::always_inline]] inline VD zero_double() {
  return VD{};
}
[[gnu::always_inline]] inline VD abs(VD a) {
  return (VD)((VL)a & INT64_MAX);
}
/// |magnitude| with the sign bit of sign.
[[gnu::always_inline]] inline VD copysign(VD magnitude, VD sign) {
  return (VD)(((VL)magnitude & INT64_MAX) | ((VL)sign & INT64_MIN));
}
/// a < b ? yes : no.
[[gnu::always_inline]] inline VD select_less(VD a, VD b, VD yes, VD no) {
  return a < b ? yes : no;
}
/// Nearest integer, ties to even, for |a| < 2^51: the sum's last bit is worth one.
[[gnu::always_inline]] inline VD round(VD a) {
  return (a + set1(0x1.8p52)) - set1(0x1.8p52);
}
/// 2^n for integral n in [-1022, 1023]: the last bits of the sum are its exponent.
[[gnu::always_inline]] inline VD power_of_2(VD n) {
  return (VD)((VL)(n + set1(0x1.8p52 + 1023)) << 52);
}
/// a · 2^n for integral n in [-1076, 1024], in two factors: 2^1024 itself is infinite.
[[gnu::always_inline]] inline VD scale2(VD a, VD n) {
  const VD half = round(n * set1(0.5));
  return a * power_of_2(half) * power_of_2(n - half);
}
[[gnu::always_inline]] inline double largest(VD a) {
  double top = a[0];
  for (int i = 1; i < kLanesF64; ++i) {
    top = a[i] > top ? a[i] : top;
  }
  return top;
}

/// The vector in which numbers stored as T are computed with, and what its lanes are.
template <class T>
struct Arithmetic {
  using Vector = VF;
  using Number = float;
};
template <>
struct Arithmetic<double> {
  using Vector = VD;
  using Number = double;
};
template <class T>
using VectorOf = typename Arithmetic<T>::Vector;
template <class T>
using NumberOf = typename Arithmetic<T>::Number;
template <class T>
inline constexpr int kLanesOf = sizeof(VectorOf<T>) / sizeof(NumberOf<T>);

/// All lanes of a V as `x` rounded to them.
template <class V>
[[gnu::always_inline]] inline V all(double x) {
  if constexpr (sizeof(V{}[0]) == sizeof(float)) {
    return set1(static_cast<float>(x));
  } else {
    return set1(x);
  }
}

}  // namespace tessera::cpu::TESSERA_ISA
