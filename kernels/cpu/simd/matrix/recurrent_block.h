// What a step of some units does in both directions: it multiplies factors, and reads and writes
// places in tensors. After simd/begin.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/matrix/pack.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent.h>
#include <tessera/kernels/cpu/simd/matrix/tile.h>
#if TESSERA_ISA_LEVEL == 4
#include <tessera/kernels/cpu/simd/matrix/amx_tile.h>
#endif

namespace tessera::cpu::TESSERA_ISA {

/// Some factors of a few sequences and the panel that they are multiplied with. Rows of factors are
/// `row_words` apart, rows of sums `stride`.
template <class Number>
struct FewOf {
  using Word = WordOf<Number>;
  std::int64_t rows, words;
  const Word* factors;
  std::int64_t row_words;
  const Word* panel;
  Number* sums;
  std::int64_t stride;
  const Word* next_panel;  ///< may be brought near meanwhile
};
using Few = FewOf<float>;

/// Factors that vectors multiply: `Words` hold them.
template <class WordsOf, class Product, class Number = float>
struct VectorFactors {
  using Words = WordsOf;
  static constexpr int kColumns = kTileVectors * kLanesOf<Number>;
#if TESSERA_ISA_LEVEL >= 2
  static constexpr int kTileHeight = 8;
#else
  static constexpr int kTileHeight = 4;
#endif
  /// Two tiles share what was brought near: a part of a panel, of kPart words, stays in the first
  /// cache until both have been multiplied with it.
  static constexpr int kRows = 2 * kTileHeight;
  static constexpr std::int64_t kPart = 128;
  static void pack_columns(const PackBlock& block, WordOf<Number>* panels) {
    pack<Words, kColumns>(block, panels);
  }
  static constexpr ProductKernelOf<Number> kKernel{.rows = kRows,
                                                   .columns = kColumns,
                                                   .depth_per_word = Words::kDepth,
                                                   .pack_columns = pack_columns};

  /// sums[rows, panel] = or += factors[rows, words] · panel, for at most kRows rows. Each tile
  /// brings its half of the next panel near.
  static void multiply(const FewOf<Number>& all, bool add) {
    for (std::int64_t k = 0; k < all.words; k += kPart) {
      for (std::int64_t row = 0; row < all.rows; row += kTileHeight) {
        FewOf<Number> few = all;
        few.rows = all.rows - row;
        few.words = all.words - k < kPart ? all.words - k : kPart;
        few.factors += row * all.row_words + k;
        few.panel += k * kColumns;
        few.sums += row * all.stride;
        few.next_panel += k * kColumns + (row > 0 ? kColumns / 2 : 0);
        with_height<kTileHeight>(few.rows, [&]<int kCount>(std::integral_constant<int, kCount>) {
          tile<kCount>(few, add || k > 0);
        });
      }
    }
  }

 private:
  template <int kCount>
  [[gnu::always_inline]] static void tile(const FewOf<Number>& few, bool add) {
    multiply_tile<Product, kCount>(
        few.words, reinterpret_cast<const Number*>(few.factors), few.row_words, 1,
        reinterpret_cast<const Number*>(few.panel), kColumns, few.sums, few.stride, add,
        Ahead{reinterpret_cast<const char*>(few.next_panel), kColumns * sizeof(Number)});
  }
};

#if TESSERA_ISA_LEVEL == 4
/// Factors that tile registers multiply: rows past the last sequence are multiplied too.
struct AmxFactors {
  using Words = PairWords;
  static constexpr int kColumns = kTileColumns;
  static constexpr int kRows = kAmxRows;
  static constexpr ProductKernel kKernel{.rows = kRows,
                                         .columns = kTileColumns,
                                         .depth_per_word = Words::kDepth,
                                         .words_of_run = kAmxWords,
                                         .pack_columns = pack<Words, kTileColumns, kAmxWords>,
                                         .begin = begin_amx};

  static void multiply(const Few& few, bool add) {
    multiply_amx<kAmxRows>(few.words, {few.factors, few.row_words, kAmxWords}, few.panel, few.sums,
                           few.stride, add);
  }
};
#endif

/// How factors of one dtype are held and multiplied.
template <class T>
struct FactorsOf {
  using Type = VectorFactors<PlainWords, PlainProduct>;
};
template <>
struct FactorsOf<double> {
  using Type = VectorFactors<PlainWords, DoubleProduct, double>;
};
template <>
struct FactorsOf<BFloat16> {
#if TESSERA_ISA_LEVEL == 4
  using Type = AmxFactors;
#elif TESSERA_ISA_LEVEL == 3
  using Type = VectorFactors<PairWords, PairProduct>;
#else
  using Type = VectorFactors<RoundedWords, PlainProduct>;
#endif
};
template <class T>
using Factors = typename FactorsOf<T>::Type;

template <class T>
void to_words(const NumberOf<T>* factors, std::int64_t count, WordOf<NumberOf<T>>* words) {
  using Words = typename Factors<T>::Words;
  constexpr std::int64_t kStep = kLanesOf<T> * Words::kDepth;
  for (std::int64_t k = 0; k < count; k += kStep) {
    const std::int64_t left = count - k;
    const std::int64_t room = (left + Words::kDepth - 1) / Words::kDepth;
    store_some(reinterpret_cast<NumberOf<T>*>(words) + k / Words::kDepth,
               Words::along(factors + k, left), room);
  }
}

/// The panel that is multiplied after the one of `gate`.
template <class Number>
[[gnu::always_inline]] inline const WordOf<Number>* panel_after(
    const RecurrentUnitsOf<Number>& units, int gate, int gates) {
  return gate + 1 < gates ? units.panel + (gate + 1) * units.panel_step : units.next_panel;
}

/// Where a vector of units of one sequence lies in tensors [batch, steps, ...].
struct UnitRange {
  std::int64_t row;  ///< sequence and step
  std::int64_t width;
  std::int64_t unit;
  std::int64_t lanes;

  /// Line `i` of `lines` a step.
  template <class T>
  [[gnu::always_inline]] VectorOf<T> load(const void* p, std::int64_t lines = 1,
                                          std::int64_t i = 0) const {
    return load_up_to(static_cast<const T*>(p) + (row * lines + i) * width + unit, lanes);
  }
  template <class T>
  [[gnu::always_inline]] void store(void* p, VectorOf<T> x, std::int64_t lines = 1,
                                    std::int64_t i = 0) const {
    store_up_to(static_cast<T*>(p) + (row * lines + i) * width + unit, x, lanes);
  }
  /// Stores a vector, past the caches when `past`.
  template <class T>
  [[gnu::always_inline]] void write(void* p, VectorOf<T> x, bool past, std::int64_t lines = 1,
                                    std::int64_t i = 0) const {
    T* to = static_cast<T*>(p) + (row * lines + i) * width + unit;
    TESSERA_ISA::write(to, x, lanes, past && is_aligned(to));
  }
  /// Brings near what is read or written later.
  template <class T>
  [[gnu::always_inline]] void fetch(const void* p, std::int64_t lines = 1,
                                    std::int64_t i = 0) const {
    __builtin_prefetch(static_cast<const T*>(p) + (row * lines + i) * width + unit);
  }
};

/// Calls f(first, count) for runs of at most kRows of all sequences.
template <int kRows, class F>
[[gnu::always_inline]] inline void each_few(std::int64_t batch, const F& f) {
  for (std::int64_t row = 0; row < batch; row += kRows) {
    f(row, batch - row < kRows ? batch - row : kRows);
  }
}

/// Calls f(range, j) for the vectors of the units of sequence `row`, j counted from their first.
template <class Number, class F>
[[gnu::always_inline]] inline void each_vector(const RecurrentCall& call,
                                               const RecurrentUnitsOf<Number>& units,
                                               std::int64_t row, const F& f) {
  each_column<kLanesOf<Number>>(
      units.count, [&](std::int64_t j, std::int64_t lanes) __attribute__((always_inline)) {
        f(UnitRange{row * call.steps + units.time, call.width, units.first + j, lanes}, j);
      });
}

}  // namespace tessera::cpu::TESSERA_ISA
