// Packing into panels. After simd/begin.h.
#pragma once

#include <concepts>
#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/words.h>

namespace tessera::cpu::TESSERA_ISA {

[[gnu::always_inline]] inline void store_some(float* p, VF x, std::int64_t n) {
  if (n >= kLanes) {
    store(p, x);
  } else if (n > 0) {
    store_n(p, x, n);
  }
}

[[gnu::always_inline]] inline void store_some(double* p, VD x, std::int64_t n) {
  if (n >= kLanesF64) {
    store(p, x);
  } else if (n > 0) {
    store_n(p, x, n);
  }
}

/// The whole squares among as many rows as a vector has lanes, which need no masks; gives how many
/// steps of k.
template <class T>
std::int64_t pack_whole_squares(const T* src, std::int64_t stride, std::int64_t depth, T* out,
                                std::int64_t panel) {
  constexpr int kSide = kLanesOf<T>;
  std::int64_t k = 0;
  for (; k + kSide <= depth; k += kSide) {
    VectorOf<T> r[kSide];
    load_transposed(src + k, stride, r);
    for (int i = 0; i < kSide; ++i) {
      store(out + (k + i) * panel, r[i]);
    }
  }
  return k;
}

/// Up to a vector's lanes of rows that are contiguous along k, transposed into a panel of `panel`
/// words a step.
template <class Words, class T>
void pack_square(const T* src, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                 NumberOf<T>* out, std::int64_t panel, std::int64_t room) {
  constexpr int kSide = kLanesOf<T>;
  constexpr std::int64_t kStep = kSide * Words::kDepth;
  std::int64_t k = 0;
  if constexpr (std::same_as<Words, PlainWords> && std::same_as<T, NumberOf<T>>) {
    if (rows >= kSide && room >= kSide) {
      k = pack_whole_squares(src, stride, depth, out, panel);
    }
  }
  for (; k < depth; k += kStep) {
    VectorOf<T> r[kSide];
    for (int i = 0; i < kSide; ++i) {
      r[i] = i < rows ? Words::along(src + i * stride + k, depth - k) : VectorOf<T>{};
    }
    transpose(r);
    const std::int64_t words = (depth - k + Words::kDepth - 1) / Words::kDepth;
    NumberOf<T>* line = out + k / Words::kDepth * panel;
    for (int i = 0; i < kSide && i < words; ++i) {
      store_some(line + i * panel, r[i], room);
    }
  }
}

/// Rows that are contiguous across panels: each step of k is copied, to `panels` panels in turn,
/// because memory is read faster in longer runs.
template <class Words, class T, int kPanel>
void pack_across(const T* src, std::int64_t depth_stride, std::int64_t width, std::int64_t depth,
                 NumberOf<T>* out, std::int64_t panels = 1, std::int64_t panel_size = 0) {
  for (std::int64_t k = 0; k < depth; k += Words::kDepth) {
    const T* p = src + k * depth_stride;
    const T* q = Words::kDepth == 2 && k + 1 < depth ? p + depth_stride : nullptr;
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t at = panel * kPanel;
      for (int i = 0; i < kPanel; i += kLanesOf<T>) {
        const T* q_i = q == nullptr ? nullptr : q + at + i;
        store_some(out + panel * panel_size + i, Words::across(p + at + i, q_i, width - at - i),
                   kPanel - i);
      }
    }
    out += kPanel;
  }
}

/// Neither direction contiguous: gathers a step of k at a time.
template <class Words, class T, int kPanel>
void pack_gather(const T* src, std::int64_t width_stride, std::int64_t depth_stride,
                 std::int64_t width, std::int64_t depth, NumberOf<T>* out) {
  T lines[2][kPanel + kLanesOf<T>] = {};
  const std::int64_t used = width < kPanel ? width : kPanel;  // the rest is of later panels
  for (std::int64_t k = 0; k < depth; k += Words::kDepth) {
    const int count = static_cast<int>(depth - k < Words::kDepth ? depth - k : Words::kDepth);
    for (int j = 0; j < count; ++j) {
      for (std::int64_t i = 0; i < used; ++i) {
        lines[j][i] = src[i * width_stride + (k + j) * depth_stride];
      }
    }
    pack_across<Words, T, kPanel>(lines[0], lines[1] - lines[0], used, count, out);
    out += kPanel;
  }
}

template <class Words, class T, int kPanel>
void pack_panel(const PackBlock& block, const T* src, std::int64_t width, NumberOf<T>* out) {
  if (block.depth_stride == 1) {
    for (int i = 0; i < kPanel; i += kLanesOf<T>) {
      pack_square<Words>(src + i * block.width_stride, block.width_stride, width - i, block.depth,
                         out + i, kPanel, kPanel - i);
    }
  } else {
    pack_gather<Words, T, kPanel>(src, block.width_stride, block.depth_stride, width, block.depth,
                                  out);
  }
}

/// Panels whose words of k come in runs of `kRun`.
template <class Words, class T, int kPanel, int kRun>
void pack_typed(const PackBlock& block, NumberOf<T>* out) {
  constexpr std::int64_t kAtOnce = kPanel > kLanesOf<T> ? 4 : 8;
  const std::int64_t used = (block.depth + Words::kDepth - 1) / Words::kDepth * kPanel;
  const std::int64_t size = (used + kRun * kPanel - 1) / (kRun * kPanel) * (kRun * kPanel);
  const T* src = static_cast<const T*>(block.data);
  const bool across = block.width_stride == 1;
  const std::int64_t step = across ? kAtOnce : 1;
  for (std::int64_t i = 0; i < block.width; i += step * kPanel) {
    const std::int64_t width = block.width - i;
    if (across) {
      const std::int64_t left = (width + kPanel - 1) / kPanel;
      pack_across<Words, T, kPanel>(src + i, block.depth_stride, width, block.depth, out,
                                    left < step ? left : step, size);
    } else {
      pack_panel<Words, T, kPanel>(block, src + i * block.width_stride, width, out);
    }
    for (std::int64_t j = 0; used < size && j < step && i + j * kPanel < block.width; ++j) {
      __builtin_memset(out + j * size + used, 0, (size - used) * sizeof(NumberOf<T>));
    }
    out += step * size;
  }
}

template <class Words, int kPanel, int kRun = 1>
void pack(const PackBlock& block, std::uint32_t* panels) {
  auto* out = reinterpret_cast<float*>(panels);
  if (block.dtype == DType::bf16) {
    pack_typed<Words, BFloat16, kPanel, kRun>(block, out);
  } else {
    pack_typed<Words, float, kPanel, kRun>(block, out);
  }
}

/// Packs factors of f64.
template <class Words, int kPanel, int kRun = 1>
void pack(const PackBlock& block, std::uint64_t* panels) {
  pack_typed<Words, double, kPanel, kRun>(block, reinterpret_cast<double*>(panels));
}

}  // namespace tessera::cpu::TESSERA_ISA
