// A step of some units, forward. After simd/begin.h and math.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/recurrent_block.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent_cell.h>

namespace tessera::cpu::TESSERA_ISA {

template <class T, RecurrentCell kCell>
class ForwardStep {
  using Number = NumberOf<T>;
  using V = VectorOf<T>;
  static constexpr int kColumns = Factors<T>::kColumns;
  static constexpr int kGates = gates_of(kCell);
  static constexpr int kKept = kept_of(kCell);
  static constexpr bool kHasCell = kCell == RecurrentCell::lstm;
  static constexpr int kRows = Factors<T>::kRows;

 public:
  ForwardStep(const RecurrentForwardOf<Number>& call, const RecurrentUnitsOf<Number>& units)
      : n_(call), b_(units) {}

  void run() {
    each_few<kRows>(
        n_.batch, [&](std::int64_t row, std::int64_t rows) __attribute__((always_inline)) {
          alignas(64) Number sums[kRows * kStride];
          for (int gate = 0; gate < kGates; ++gate) {
            fetch_share(row, rows, gate);
            Factors<T>::multiply({rows, b_.words, b_.factors + row * b_.words, b_.words,
                                  b_.panel + gate * b_.panel_step, sums + gate * kColumns, kStride,
                                  panel_after(b_, gate, kGates)},
                                 false);
          }
          for (std::int64_t i = 0; i < rows; ++i) {
            finish_row(row + i, sums + i * kStride);
          }
        });
    if (past_) {
      stream_end();
    }
  }

 private:
  static constexpr std::int64_t kStride = kGates * kColumns;

  /// The sums of a gate take a while: time to bring near what the gates are then used with.
  void fetch_share(std::int64_t row, std::int64_t rows, int gate) const {
    for (std::int64_t i = gate * rows / kGates; i < (gate + 1) * rows / kGates; ++i) {
      each_vector(
          n_, b_, row + i, [&](const UnitRange& at, std::int64_t) __attribute__((always_inline)) {
            for (int g = 0; g < kGates; ++g) {
              at.fetch<T>(n_.x, kGates, g);
            }
            if (past_) {
              return;  // what is written then needs not be near
            }
            for (int k = 0; k < kKept; ++k) {
              at.fetch<T>(n_.kept_values, kKept, k);
            }
            at.fetch<T>(n_.output);
            at.fetch<T>(n_.before);
            if (kHasCell) {
              at.fetch<Number>(n_.cells);
            }
          });
    }
  }

  void finish_row(std::int64_t row, const Number* sums) const {
    const bool taken = b_.time < n_.lengths[row];
    each_vector(
        n_, b_, row, [&](const UnitRange& at, std::int64_t j) __attribute__((always_inline)) {
          finish(at, sums + j, row * n_.width + at.unit, taken);
        });
    to_words<T>(b_.hidden + row * n_.width + b_.first, b_.count,
                b_.next_factors + row * b_.words + b_.first / Factors<T>::Words::kDepth);
  }

  /// The sum of a gate, with the input's part; that of a gru's new value is added behind its gate.
  [[gnu::always_inline]] V gate_at(const UnitRange& at, const Number* sums, int gate) const {
    const bool apart = kCell == RecurrentCell::gru && gate == 2;
    V sum = load(sums + gate * kColumns);
    if (n_.bias != nullptr) {
      sum = sum + load_up_to(n_.bias + gate * n_.width + at.unit, at.lanes);
    }
    return apart ? sum : sum + at.load<T>(n_.x, kGates, gate);
  }

  [[gnu::always_inline]] void finish(const UnitRange& at, const Number* sums, std::int64_t state,
                                     bool taken) const {
    Units<Number> u{};
    u.hidden = load_up_to(b_.hidden + state, at.lanes);
    at.write<T>(n_.before, u.hidden, past_);
    if (kHasCell) {
      u.cell = load_up_to(b_.cell + state, at.lanes);
      at.write<Number>(n_.cells, u.cell, past_);
    }
    V output = V{};
    if (taken) {
      for (int gate = 0; gate < kGates; ++gate) {
        u.gates[gate] = gate_at(at, sums, gate);
      }
      const bool apart = kCell == RecurrentCell::gru;
      step_cell<kCell>(u, apart ? at.load<T>(n_.x, kGates, kGates - 1) : V{});
      output = u.hidden;
      store_up_to(b_.hidden + state, u.hidden, at.lanes);
      if (kHasCell) {
        store_up_to(b_.cell + state, u.cell, at.lanes);
      }
    }
    at.store<T>(n_.output, output);
    for (int i = 0; i < kKept; ++i) {
      at.write<T>(n_.kept_values, u.kept[i], past_, kKept, i);
    }
  }

  const RecurrentForwardOf<Number>& n_;
  const RecurrentUnitsOf<Number>& b_;
  bool past_ = n_.past_caches();  ///< what backward or a product reads later is written so
};

}  // namespace tessera::cpu::TESSERA_ISA
