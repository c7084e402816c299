// A step of some units, backwards. After simd/begin.h and math.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/recurrent_block.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent_cell.h>

namespace tessera::cpu::TESSERA_ISA {

template <class T, RecurrentCell kCell>
class BackwardStep {
  static constexpr int kGates = gates_of(kCell);
  static constexpr int kKept = kept_of(kCell);
  static constexpr bool kHasCell = kCell == RecurrentCell::lstm;
  static constexpr bool kApart = kCell == RecurrentCell::gru;

 public:
  BackwardStep(const RecurrentBackward& call, const RecurrentBlock& block) : n_(call), b_(block) {}

  void run(bool past_the_first) {
    const std::int64_t row_words = kGates * b_.words;
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      each_vector(
          n_, b_, row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
            store(b_.sums + row * kTileColumns + j,
                  load_up_to(b_.hidden + row * n_.width + at.unit, at.lanes));
          });
    }
    for (int gate = 0; gate < kGates && b_.factors != nullptr; ++gate) {
      multiply<typename Factors<T>::Product>(n_.batch, b_.words, b_.factors + gate * b_.words,
                                             row_words, b_.panel + gate * b_.panel_step, b_.sums,
                                             kTileColumns);
    }
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      const bool taken = b_.time < n_.lengths[row];
      finish_row(row, taken, past_the_first);
    }
  }

 private:
  void finish_row(std::int64_t row, bool taken, bool past_the_first) const {
    float factors[kGates][kTileColumns];
    each_vector(
        n_, b_, row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
          Units u{};
          float* hidden = b_.hidden + row * n_.width + at.unit;
          u.hidden = load(b_.sums + row * kTileColumns + j);
          if (past_the_first) {
            store_up_to(hidden, u.hidden, at.lanes);
            return;
          }
          VF x_new = zero();
          if (taken) {
            take_back(at, u, b_.cell + row * n_.width + at.unit, x_new);
          }
          store_up_to(hidden, u.hidden, at.lanes);
          for (int gate = 0; gate < kGates; ++gate) {
            const bool other = kApart && gate == 2;
            at.store<T>(n_.to_x, other ? x_new : u.gates[gate], kGates, gate);
            if (kApart) {
              at.store<T>(n_.to_hidden, u.gates[gate], kGates, gate);
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

  [[gnu::always_inline]] void take_back(const Place& at, Units& u, float* cell, VF& x_new) const {
    u.hidden = u.hidden + at.load<T>(n_.output);
    for (int i = 0; i < kKept; ++i) {
      u.kept[i] = at.load<T>(n_.kept_values, kKept, i);
    }
    VF cell_before = zero();
    if (kHasCell) {
      u.cell = load_up_to(cell, at.lanes);
      cell_before = at.load<float>(n_.cells);
    }
    step_back<kCell>(u, kApart ? at.load<T>(n_.before) : zero(), cell_before, x_new);
    if (kHasCell) {
      store_up_to(cell, u.cell, at.lanes);
    }
  }

  const RecurrentBackward& n_;
  const RecurrentBlock& b_;
};

}  // namespace tessera::cpu::TESSERA_ISA
