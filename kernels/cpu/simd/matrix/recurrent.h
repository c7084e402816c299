// One step of some units of a recurrent layer, as each instruction set has it.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/recurrent.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

namespace tessera::cpu {

/// Units [first, first + count), at most a panel of packed weights, of one step. Factors are words
/// as in ProductKernel: a row a sequence, `words` words a gate.
template <class Number>
struct RecurrentUnitsOf {
  using Word = WordOf<Number>;
  std::int64_t time = 0;
  std::int64_t first = 0, count = 0;
  std::int64_t words = 0;            ///< that hold `width` factors
  const Word* panel = nullptr;       ///< of the first gate
  const Word* next_panel = nullptr;  ///< of the first gate of the thread's next units
  std::int64_t panel_step = 0;       ///< words from a gate's panel to the next gate's
  const Word* factors = nullptr;     ///< null: none yet, backwards
  Word* next_factors = nullptr;      ///< the units' own are written
  Number* hidden =
      nullptr;             ///< [batch, width]: states or, backwards, what their gradients carry on
  Number* cell = nullptr;  ///< [batch, width], as `hidden`
};

using RecurrentUnits = RecurrentUnitsOf<float>;
using RecurrentUnitsF64 = RecurrentUnitsOf<double>;

/// What RecurrentTable has, for f64.
struct RecurrentTableF64 {
  ProductKernelOf<double> kernel;
  void (*forward)(const RecurrentForwardF64&, const RecurrentUnitsF64&);
  void (*backward)(const RecurrentBackwardF64&, const RecurrentUnitsF64&, bool past_the_first);
  void (*to_words)(const double* factors, std::int64_t count, std::uint64_t* words);
};

/// Index 0 is f32, 1 is bf16.
struct RecurrentTable {
  /// How weights are packed, as columns, and factors counted: its rows are the sequences that are
  /// taken at once, and factors are there for whole runs of them. It has no tile of its own.
  ProductKernel kernel[2];
  void (*forward[2])(const RecurrentForward&, const RecurrentUnits&);
  /// A step further back than the first one adds what is carried on to `hidden`, and no more.
  void (*backward[2])(const RecurrentBackward&, const RecurrentUnits&, bool past_the_first);
  /// `count` factors as words.
  void (*to_words[2])(const float* factors, std::int64_t count, std::uint32_t* words);
  RecurrentTableF64 f64;
};

}  // namespace tessera::cpu
