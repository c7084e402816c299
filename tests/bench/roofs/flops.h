// Multiply-adds out of registers: what the arithmetic units give when nothing is loaded.
#pragma once

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
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

#if defined(__linux__)

/// Asks the kernel for the tile registers, where the CPU has them.
inline bool may_use_tiles() {
  constexpr unsigned kBf16AndTiles = 1U << 22 | 1U << 24;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBf16AndTiles) == kBf16AndTiles &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// Eight whole tile registers.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

[[gnu::target("amx-tile,amx-bf16")]] inline double flops_bf16_amx(long rounds) {
  static constexpr TileShapes kShapes;
  std::array<std::uint16_t, 512> factors;
  factors.fill(0x3f00);  // 0.5
  _tile_loadconfig(&kShapes);
  asm volatile("" : : "r"(factors.data()) : "memory");
  _tile_loadd(4, factors.data(), 64);
  _tile_loadd(5, factors.data(), 64);
  for (long round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
  return 2.0 * 4 * 16 * 16 * 32 * static_cast<double>(rounds);
}

#endif
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
#if defined(__x86_64__) && defined(__linux__)
  if (may_use_tiles()) {
    return flops_bf16_amx;
  }
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16")) {
    return flops_bf16_avx512;
  }
#endif
  return best_f32_loop();
}

}  // namespace bench
