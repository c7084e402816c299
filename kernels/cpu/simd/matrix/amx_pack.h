// Rows of A as tile registers take them: panels of 32 rows, [runs of k][row][words of a run]. After
// simd/begin.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/amx_tile.h>
#include <tessera/kernels/cpu/simd/matrix/words.h>

namespace tessera::cpu::TESSERA_ISA {

inline constexpr int kAmxPanel = 2 * kAmxRows;
inline constexpr std::int64_t kAmxRun = kAmxPanel * kAmxWords;  ///< words of a panel's run
inline constexpr std::int64_t kAmxDepth = kAmxWords * PairWords::kDepth;

/// Some of a matrix, from one of its elements on.
template <class T>
struct AmxSource {
  const T* data;
  std::int64_t width_stride, depth_stride;
  std::int64_t width, depth;  ///< left
};

/// A run whose rows are contiguous along k.
template <class T>
void pack_amx_along(const AmxSource<T>& s, float* out) {
  for (int i = 0; i < kAmxPanel; ++i) {
    store(out + i * kAmxWords,
          i < s.width ? PairWords::along(s.data + i * s.width_stride, s.depth) : zero());
  }
}

/// A run whose columns are contiguous across rows.
template <class T>
void pack_amx_across(const AmxSource<T>& s, float* out) {
  for (int half = 0; half < kAmxPanel; half += kAmxRows) {
    VF r[kAmxRows];
    for (int w = 0; w < kAmxWords; ++w) {
      const T* p = s.data + 2 * w * s.depth_stride + half;
      r[w] = 2 * w >= s.depth
                 ? zero()
                 : PairWords::across(p, 2 * w + 1 < s.depth ? p + s.depth_stride : nullptr,
                                     s.width - half);
    }
    transpose(r);
    for (int i = 0; i < kAmxRows; ++i) {
      store(out + (half + i) * kAmxWords, r[i]);
    }
  }
}

/// A run of neither kind.
template <class T>
void pack_amx_gather(const AmxSource<T>& s, float* out) {
  T lines[kAmxPanel][kAmxDepth] = {};
  for (std::int64_t i = 0; i < kAmxPanel && i < s.width; ++i) {
    for (std::int64_t k = 0; k < kAmxDepth && k < s.depth; ++k) {
      lines[i][k] = s.data[i * s.width_stride + k * s.depth_stride];
    }
  }
  pack_amx_along<T>({lines[0], kAmxDepth, 1, kAmxPanel, kAmxDepth}, out);
}

template <class T>
void pack_amx_typed(const PackBlock& block, float* out) {
  const auto pack = block.depth_stride == 1   ? pack_amx_along<T>
                    : block.width_stride == 1 ? pack_amx_across<T>
                                              : pack_amx_gather<T>;
  // Where columns are contiguous, some panels in turn: memory is read faster in longer runs.
  const std::int64_t at_once = block.width_stride == 1 ? 4 : 1;
  const std::int64_t panels = (block.width + kAmxPanel - 1) / kAmxPanel;
  const std::int64_t runs = (block.depth + kAmxDepth - 1) / kAmxDepth;
  for (std::int64_t first = 0; first < panels; first += at_once) {
    for (std::int64_t run = 0; run < runs; ++run) {
      for (std::int64_t i = first; i < panels && i < first + at_once; ++i) {
        const std::int64_t row = i * kAmxPanel, k = run * kAmxDepth;
        const T* data = static_cast<const T*>(block.data);
        pack({data + row * block.width_stride + k * block.depth_stride, block.width_stride,
              block.depth_stride, block.width - row, block.depth - k},
             out + (i * runs + run) * kAmxRun);
      }
    }
  }
}

inline void pack_amx_rows(const PackBlock& block, std::uint32_t* panels) {
  auto* out = reinterpret_cast<float*>(panels);
  if (block.dtype == DType::bf16) {
    pack_amx_typed<BFloat16>(block, out);
  } else {
    pack_amx_typed<float>(block, out);
  }
}

}  // namespace tessera::cpu::TESSERA_ISA
