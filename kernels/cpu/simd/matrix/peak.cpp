#include <cstdint>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/peak.h>

#include <tessera/kernels/cpu/simd/begin.h>
#if TESSERA_ISA_LEVEL == 4
#include <tessera/kernels/cpu/simd/matrix/amx_tile.h>
#endif

namespace tessera::cpu::TESSERA_ISA {
namespace {

// Independent sums: more than units times latency, and few enough to stay in registers.
#if TESSERA_ISA_LEVEL >= 2
constexpr int kSums = 24;
#else
constexpr int kSums = 12;
#endif

/// Hides `x` from the optimizer, which would fold rounds into one another.
[[gnu::always_inline]] inline void hide(VF& x) {
#if TESSERA_ISA_LEVEL >= 2
  asm volatile("" : "+v"(x));
#elif defined(__x86_64__)
  asm volatile("" : "+x"(x));
#else
  asm volatile("" : "+m"(x));
#endif
}

template <class Step>
[[gnu::always_inline]] inline void run(std::int64_t rounds, const Step& step) {
  VF sums[kSums];
#pragma GCC unroll 24
  for (VF& sum : sums) {
    sum = zero();
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (VF& sum : sums) {
      sum = step(sum);
      hide(sum);
    }
  }
}

double f32(std::int64_t rounds) {
  VF factor = set1(0.5F);
  hide(factor);
  run(
      rounds, [&](VF sum) __attribute__((always_inline)) { return fma(sum, factor, factor); });
  return 2.0 * kLanes * kSums * static_cast<double>(rounds);
}

#if TESSERA_ISA_LEVEL == 4
double bf16(std::int64_t rounds) {
  alignas(64) static constexpr std::uint16_t kFactors[kAmxRows * 2 * kAmxWords] = {};
  constexpr double kFlops = 4.0 * 2 * kAmxRows * kAmxWords * 2 * kAmxWords;  // of four products
  begin_amx();
  _tile_loadd(4, kFactors, 64);
  _tile_loadd(5, kFactors, 64);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  return kFlops * static_cast<double>(rounds);
}
#elif TESSERA_ISA_LEVEL == 3
double bf16(std::int64_t rounds) {
  const __m512bh factor = _mm512_cvtne2ps_pbh(set1(0.5F), set1(0.5F));
  run(
      rounds, [&](VF sum)
                  __attribute__((always_inline)) { return _mm512_dpbf16_ps(sum, factor, factor); });
  return 4.0 * kLanes * kSums * static_cast<double>(rounds);
}
#else
constexpr auto bf16 = f32;  // without such instructions bf16 is computed in f32
#endif

constexpr PeakTable kPeakTable{f32, bf16};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kPeakAdded = IsaTable<PeakTable>::add(Isa::TESSERA_ISA, &kPeakTable);
}
