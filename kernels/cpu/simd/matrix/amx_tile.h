// Products of bf16 by tile registers (AMX): 16 rows of 16 words each. After simd/begin.h.
//
// A tile of C takes 16 words of k at once: the even and the odd values of k are two chains of
// multiply-adds from 0, whose sum is then added to C (Intel SDM, TDPBF16PS). So bits depend on
// where runs of k begin, and on nothing else: a run begins where a sum does, and is filled up with
// zeros.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/tile.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr int kAmxRows = 16, kAmxWords = 16;

/// Shapes of the tile registers: all are whole.
struct alignas(64) AmxShapes {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// Readies this thread's tile registers.
inline void begin_amx() {
  static constexpr AmxShapes kShapes;
  _tile_loadconfig(&kShapes);
}

/// The intrinsics do not say that they read and write memory.
[[gnu::always_inline]] inline void memory_is_touched() {
  asm volatile("" ::: "memory");
}

/// Words of A: row i lies at a + i * row_stride, its next run of k `run_step` further.
struct AmxRows {
  const std::uint32_t* data;
  std::int64_t row_stride, run_step;

  [[nodiscard]] const std::uint32_t* at(std::int64_t row, std::int64_t run) const {
    return data + row * row_stride + run * run_step;
  }
};

/// c[kRows, 32] = or += A · panel of B, [words][32], for 16 or 32 rows.
template <int kRows>
void multiply_amx(std::int64_t words, const AmxRows& a, const std::uint32_t* b, float* c,
                  std::int64_t stride, bool add) {
  constexpr int kWord = sizeof(float), kPanel = 2 * kAmxWords;
  constexpr bool kTwo = kRows == 2 * kAmxRows;  // tiles, one below the other
  static_assert(kTwo || kRows == kAmxRows);
  [[maybe_unused]] float* below = c + kAmxRows * stride;
  const std::int64_t step = stride * kWord, a_step = a.row_stride * kWord;
  memory_is_touched();
  if (add) {
    _tile_loadd(0, c, step);
    _tile_loadd(1, c + kAmxWords, step);
    if constexpr (kTwo) {
      _tile_loadd(2, below, step);
      _tile_loadd(3, below + kAmxWords, step);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (std::int64_t run = 0; run < words / kAmxWords; ++run) {
    _tile_loadd(4, a.at(0, run), a_step);
    _tile_loadd(6, b, kPanel * kWord);
    _tile_loadd(7, b + kAmxWords, kPanel * kWord);
    if constexpr (kTwo) {
      _tile_loadd(5, a.at(kAmxRows, run), a_step);
    }
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwo) {
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    b += kAmxWords * kPanel;
  }
  _tile_stored(0, c, step);
  _tile_stored(1, c + kAmxWords, step);
  if constexpr (kTwo) {
    _tile_stored(2, below, step);
    _tile_stored(3, below + kAmxWords, step);
  }
  memory_is_touched();
}

}  // namespace tessera::cpu::TESSERA_ISA
