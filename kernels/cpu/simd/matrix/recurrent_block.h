// What a step of some units does in both directions: it multiplies factors, and reads and writes
// places in tensors. After simd/begin.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/matrix/pack.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent.h>
#include <tessera/kernels/cpu/simd/matrix/tile.h>

namespace tessera::cpu::TESSERA_ISA {

#if TESSERA_ISA_LEVEL >= 2
inline constexpr int kRowsAtOnce = 8;
#else
inline constexpr int kRowsAtOnce = 4;
#endif

/// How factors of one dtype are held and multiplied.
template <class T>
struct Factors;
template <>
struct Factors<float> {
  using Words = PlainWords;
  using Product = PlainProduct;
};
template <>
struct Factors<BFloat16> {
#if TESSERA_ISA_LEVEL == 3
  using Words = PairWords;
  using Product = PairProduct;
#else
  using Words = RoundedWords;
  using Product = PlainProduct;
#endif
};

template <class T>
void to_words(const float* factors, std::int64_t count, std::uint32_t* words) {
  constexpr std::int64_t kStep = kLanes * Factors<T>::Words::kDepth;
  for (std::int64_t k = 0; k < count; k += kStep) {
    const std::int64_t left = count - k;
    const std::int64_t room = (left + Factors<T>::Words::kDepth - 1) / Factors<T>::Words::kDepth;
    store_some(reinterpret_cast<float*>(words) + k / Factors<T>::Words::kDepth,
               Factors<T>::Words::along(factors + k, left), room);
  }
}

/// Some factors of a few sequences and the panel that they are multiplied with. Rows of factors are
/// `row_words` apart, rows of sums `stride`.
struct Few {
  std::int64_t rows, words;
  const std::uint32_t* factors;
  std::int64_t row_words;
  const std::uint32_t* panel;
  float* sums;
  std::int64_t stride;
};

/// sums[rows, panel] = or += factors[rows, words] · panel, for at most kRows rows.
template <class Product, int kRows = kRowsAtOnce>
void multiply(const Few& few, bool add) {
  if constexpr (kRows > 1) {
    if (few.rows < kRows) {
      multiply<Product, kRows - 1>(few, add);
      return;
    }
  }
  multiply_tile<Product, kRows>(few.words, reinterpret_cast<const float*>(few.factors),
                                few.row_words, 1, reinterpret_cast<const float*>(few.panel),
                                kTileColumns, few.sums, few.stride, add);
}

/// Where a vector of units of one sequence lies in tensors [batch, steps, ...].
struct Place {
  std::int64_t row;  ///< sequence and step
  std::int64_t width;
  std::int64_t unit;
  std::int64_t lanes;

  /// Line `i` of `lines` a step.
  template <class T>
  [[gnu::always_inline]] VF load(const void* p, std::int64_t lines = 1, std::int64_t i = 0) const {
    return load_up_to(static_cast<const T*>(p) + (row * lines + i) * width + unit, lanes);
  }
  template <class T>
  [[gnu::always_inline]] void store(void* p, VF x, std::int64_t lines = 1,
                                    std::int64_t i = 0) const {
    store_up_to(static_cast<T*>(p) + (row * lines + i) * width + unit, x, lanes);
  }
  /// Brings near what is read or written later.
  template <class T>
  [[gnu::always_inline]] void fetch(const void* p, std::int64_t lines = 1,
                                    std::int64_t i = 0) const {
    __builtin_prefetch(static_cast<const T*>(p) + (row * lines + i) * width + unit);
  }
};

/// Calls f(first, count) for runs of at most kRowsAtOnce of all sequences.
template <class F>
[[gnu::always_inline]] inline void each_few(std::int64_t batch, const F& f) {
  for (std::int64_t row = 0; row < batch; row += kRowsAtOnce) {
    f(row, batch - row < kRowsAtOnce ? batch - row : kRowsAtOnce);
  }
}

/// Calls f(place, j) for the vectors of the block's units of sequence `row`, j counted in the
/// block.
template <class F>
[[gnu::always_inline]] inline void each_vector(const RecurrentCall& call,
                                               const RecurrentBlock& block, std::int64_t row,
                                               const F& f) {
  each_column(
      block.count, [&](std::int64_t j, std::int64_t lanes) __attribute__((always_inline)) {
        f(Place{row * call.steps + block.time, call.width, block.first + j, lanes}, j);
      });
}

}  // namespace tessera::cpu::TESSERA_ISA
