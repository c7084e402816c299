// Multiply-adds out of registers: what the arithmetic units give when nothing is loaded.
#pragma once

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {

/// Runs `rounds` rounds of independent multiply-adds and returns the floating point operations
/// done, two for each multiply-add.
using FlopLoop = double (*)(long rounds);

inline double flops_f32_baseline(long rounds) {
  std::array<float, 64> sums{};
  float factor = 0.5f;
  asm volatile("" : "+x"(factor));  // unknown to the optimizer
  for (long round = 0; round < rounds; ++round) {
    for (float& sum : sums) {
      sum = sum * factor + factor;
    }
  }
  asm volatile("" : : "r"(sums.data()) : "memory");
  return 2.0 * sums.size() * static_cast<double>(rounds);
}

#if defined(__x86_64__)

// The accumulators: twice the units times the latency, in registers with room for the factors.
[[gnu::target("avx2,fma")]] inline double flops_f32_avx2(long rounds) {
  constexpr int kSums = 12;
  __m256 sums[kSums] = {};
  __m256 factor = _mm256_set1_ps(0.5f);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm256_fmadd_ps(sums[i], factor, factor);
      asm volatile("" : "+x"(sums[i]));  // no folding of rounds
    }
  }
  return 2.0 * 8 * kSums * static_cast<double>(rounds);
}

[[gnu::target("avx512f")]] inline double flops_f32_avx512(long rounds) {
  constexpr int kSums = 24;
  __m512 sums[kSums] = {};
  __m512 factor = _mm512_set1_ps(0.5f);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_fmadd_ps(sums[i], factor, factor);
      asm volatile("" : "+v"(sums[i]));
    }
  }
  return 2.0 * 16 * kSums * static_cast<double>(rounds);
}

[[gnu::target("avx512f,avx512bf16")]] inline double flops_bf16_avx512(long rounds) {
  constexpr int kSums = 24;
  __m512 sums[kSums] = {};
  const __m512 half = _mm512_set1_ps(0.5f);
  const __m512bh factor = _mm512_cvtne2ps_pbh(half, half);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_dpbf16_ps(sums[i], factor, factor);
      asm volatile("" : "+v"(sums[i]));
    }
  }
  return 2.0 * 32 * kSums * static_cast<double>(rounds);
}

#endif

/// The widest loop that this CPU runs.
inline FlopLoop best_f32_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return flops_f32_avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return flops_f32_avx2;
  }
#endif
  return flops_f32_baseline;
}

/// Likewise with bf16 factors and f32 sums; without such instructions that is the f32 loop.
inline FlopLoop best_bf16_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16")) {
    return flops_bf16_avx512;
  }
#endif
  return best_f32_loop();
}

}  // namespace bench
