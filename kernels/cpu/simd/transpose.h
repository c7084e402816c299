// A square of words. After simd/begin.h.
#pragma once

#include <cstdint>

namespace tessera::cpu::TESSERA_ISA {

/// Transposes a square of numbers in registers: log2 rounds of interleaving rows i and i + half.
template <class V, int kSide>
[[gnu::always_inline]] inline void transpose(V (&r)[kSide]) {
  decltype(V{} < V{}) low{}, high{};  // integers as wide as the numbers
  for (int i = 0; i < kSide; ++i) {
    low[i] = (i / 2) + (i % 2) * kSide;
    high[i] = low[i] + kSide / 2;
  }
  V next[kSide];
  for (int round = 1; round < kSide; round *= 2) {
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = __builtin_shuffle(r[i], r[i + kSide / 2], low);
      next[2 * i + 1] = __builtin_shuffle(r[i], r[i + kSide / 2], high);
    }
    for (int i = 0; i < kSide; ++i) {
      r[i] = next[i];
    }
  }
}

/// r[i] = column i of a square whose rows lie `stride` apart at `p`.
[[gnu::always_inline]] inline void load_transposed(const float* p, std::int64_t stride,
                                                   VF (&r)[kLanes]) {
#if TESSERA_ISA_LEVEL >= 2
  // Quarters of rows come to their lanes as they are loaded, which saves half of the shuffles.
  for (int c = 0; c < kLanes; c += 4) {
    VF q[4];
    for (int i = 0; i < 4; ++i) {
      const float* at = p + i * stride + c;
      q[i] = _mm512_castps128_ps512(_mm_loadu_ps(at));
      q[i] = _mm512_mask_broadcast_f32x4(q[i], 0x00F0, _mm_loadu_ps(at + 4 * stride));
      q[i] = _mm512_mask_broadcast_f32x4(q[i], 0x0F00, _mm_loadu_ps(at + 8 * stride));
      q[i] = _mm512_mask_broadcast_f32x4(q[i], 0xF000, _mm_loadu_ps(at + 12 * stride));
    }
    const auto low = [&](int i) { return _mm512_castps_pd(_mm512_unpacklo_ps(q[i], q[i + 1])); };
    const auto high = [&](int i) { return _mm512_castps_pd(_mm512_unpackhi_ps(q[i], q[i + 1])); };
    r[c] = _mm512_castpd_ps(_mm512_unpacklo_pd(low(0), low(2)));
    r[c + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low(0), low(2)));
    r[c + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high(0), high(2)));
    r[c + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high(0), high(2)));
  }
#else
  for (int i = 0; i < kLanes; ++i) {
    r[i] = load(p + i * stride);
  }
  transpose(r);
#endif
}

[[gnu::always_inline]] inline void load_transposed(const double* p, std::int64_t stride,
                                                   VD (&r)[kLanesF64]) {
  for (int i = 0; i < kLanesF64; ++i) {
    r[i] = load(p + i * stride);
  }
  transpose(r);
}

}  // namespace tessera::cpu::TESSERA_ISA
