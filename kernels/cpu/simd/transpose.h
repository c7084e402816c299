// A square of words. After simd/begin.h.
#pragma once

namespace tessera::cpu::TESSERA_ISA {

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
