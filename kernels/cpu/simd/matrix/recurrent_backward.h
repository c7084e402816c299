// A step of some units, backwards. After simd/begin.h and math.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/recurrent_block.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent_cell.h>

namespace tessera::cpu::TESSERA_ISA {

template <class T, RecurrentCell kCell>
class BackwardStep {
  using Number = NumberOf<T>;
  using V = VectorOf<T>;
  static constexpr int kColumns = Factors<T>::kColumns;
  static constexpr int kGates = gates_of(kCell);
  static constexpr int kKept = kept_of(kCell);
  static constexpr bool kHasCell = kCell == RecurrentCell::lstm;
  static constexpr int kRows = Factors<T>::kRows;
  static constexpr bool kApart = kCell == RecurrentCell::gru;

 public:
  BackwardStep(const RecurrentBackwardOf<Number>& call, const RecurrentUnitsOf<Number>& units)
      : n_(call), b_(units) {}

  void run(bool past_the_first) {
    each_few<kRows>(
        n_.batch, [&](std::int64_t row, std::int64_t rows) __attribute__((always_inline)) {
          alignas(64) Number sums[kRows * kColumns];
          for (std::int64_t i = 0; i < rows; ++i) {
            begin_row(row + i, sums + i * kColumns);
          }
          for (int gate = 0; gate < kGates && b_.factors != nullptr; ++gate) {
            if (!past_the_first) {
              fetch_share(row, rows, gate);
            }
            Factors<T>::multiply(
                {rows, b_.words, b_.factors + (row * kGates + gate) * b_.words, kGates * b_.words,
                 b_.panel + gate * b_.panel_step, sums, kColumns, panel_after(b_, gate, kGates)},
                true);
          }
          for (std::int64_t i = 0; i < rows; ++i) {
            finish_row(row + i, sums + i * kColumns, past_the_first);
          }
        });
    if (past_) {
      stream_end();
    }
  }

 private:
  /// Sums begin with what is carried on.
  void begin_row(std::int64_t row, Number* sums) const {
    each_vector(
        n_, b_, row, [&](const UnitRange& at, std::int64_t j) __attribute__((always_inline)) {
          store(sums + j, load_up_to(b_.hidden + row * n_.width + at.unit, at.lanes));
        });
  }

  /// Brings a share near of what the gates are then used with, as forward does.
  void fetch_share(std::int64_t row, std::int64_t rows, int gate) const {
    for (std::int64_t i = gate * rows / kGates; i < (gate + 1) * rows / kGates; ++i) {
      each_vector(
          n_, b_, row + i, [&](const UnitRange& at, std::int64_t) __attribute__((always_inline)) {
            for (int k = 0; k < kKept; ++k) {
              at.fetch<T>(n_.kept_values, kKept, k);
            }
            for (int g = 0; g < kGates && !past_; ++g) {
              at.fetch<T>(n_.to_x, kGates, g);
              if (kApart) {
                at.fetch<T>(n_.to_hidden, kGates, g);
              }
            }
            at.fetch<T>(n_.output);
            if (kApart) {
              at.fetch<T>(n_.before);
            }
            if (kHasCell) {
              at.fetch<Number>(n_.cells);
            }
          });
    }
  }

  void finish_row(std::int64_t row, const Number* sums, bool past_the_first) const {
    const bool taken = b_.time < n_.lengths[row];
    Number factors[kGates][kColumns];
    each_vector(
        n_, b_, row, [&](const UnitRange& at, std::int64_t j) __attribute__((always_inline)) {
          Units<Number> u{};
          Number* hidden = b_.hidden + row * n_.width + at.unit;
          u.hidden = load(sums + j);
          if (past_the_first) {
            store_up_to(hidden, u.hidden, at.lanes);
            return;
          }
          V x_new = V{};
          if (taken) {
            take_back(at, u, b_.cell + row * n_.width + at.unit, x_new);
          }
          store_up_to(hidden, u.hidden, at.lanes);
          for (int gate = 0; gate < kGates; ++gate) {
            const bool other = kApart && gate == 2;
            at.write<T>(n_.to_x, other ? x_new : u.gates[gate], past_, kGates, gate);
            if (kApart) {
              at.write<T>(n_.to_hidden, u.gates[gate], past_, kGates, gate);
            }
            store(factors[gate] + j, u.gates[gate]);
          }
        });
    for (int gate = 0; gate < kGates && !past_the_first; ++gate) {
      to_words<T>(factors[gate], b_.count,
                  b_.next_factors + (row * kGates + gate) * b_.words +
                      b_.first / Factors<T>::Words::kDepth);
    }
  }

  [[gnu::always_inline]] void take_back(const UnitRange& at, Units<Number>& u, Number* cell,
                                        V& x_new) const {
    u.hidden = u.hidden + at.load<T>(n_.output);
    for (int i = 0; i < kKept; ++i) {
      u.kept[i] = at.load<T>(n_.kept_values, kKept, i);
    }
    V cell_before = V{};
    if (kHasCell) {
      u.cell = load_up_to(cell, at.lanes);
      cell_before = at.load<Number>(n_.cells);
    }
    step_back<kCell>(u, kApart ? at.load<T>(n_.before) : V{}, cell_before, x_new);
    if (kHasCell) {
      store_up_to(cell, u.cell, at.lanes);
    }
  }

  const RecurrentBackwardOf<Number>& n_;
  const RecurrentUnitsOf<Number>& b_;
  bool past_ = n_.past_caches();  ///< what backward or a product reads later is written so
};

}  // namespace tessera::cpu::TESSERA_ISA
