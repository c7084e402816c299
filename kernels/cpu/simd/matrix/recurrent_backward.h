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
  static constexpr int kRows = Factors<T>::kRows;
  static constexpr bool kApart = kCell == RecurrentCell::gru;

 public:
  BackwardStep(const RecurrentBackward& call, const RecurrentBlock& block) : n_(call), b_(block) {}

  void run(bool past_the_first) {
    each_few<kRows>(
        n_.batch, [&](std::int64_t row, std::int64_t rows) __attribute__((always_inline)) {
          alignas(64) float sums[kRows * kTileColumns];
          for (std::int64_t i = 0; i < rows; ++i) {
            begin_row(row + i, sums + i * kTileColumns);
          }
          for (int gate = 0; gate < kGates && b_.factors != nullptr; ++gate) {
            if (!past_the_first) {
              fetch_share(row, rows, gate);
            }
            Factors<T>::multiply({rows, b_.words, b_.factors + (row * kGates + gate) * b_.words,
                                  kGates * b_.words, b_.panel + gate * b_.panel_step, sums,
                                  kTileColumns, panel_after(b_, gate, kGates)},
                                 true);
          }
          for (std::int64_t i = 0; i < rows; ++i) {
            finish_row(row + i, sums + i * kTileColumns, past_the_first);
          }
        });
    if (past_) {
      stream_end();
    }
  }

 private:
  /// Sums begin with what is carried on.
  void begin_row(std::int64_t row, float* sums) const {
    each_vector(
        n_, b_, row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
          store(sums + j, load_up_to(b_.hidden + row * n_.width + at.unit, at.lanes));
        });
  }

  /// As forward.
  void fetch_share(std::int64_t row, std::int64_t rows, int gate) const {
    for (std::int64_t i = gate * rows / kGates; i < (gate + 1) * rows / kGates; ++i) {
      each_vector(
          n_, b_, row + i, [&](const Place& at, std::int64_t) __attribute__((always_inline)) {
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
              at.fetch<float>(n_.cells);
            }
          });
    }
  }

  void finish_row(std::int64_t row, const float* sums, bool past_the_first) const {
    const bool taken = b_.time < n_.lengths[row];
    float factors[kGates][kTileColumns];
    each_vector(
        n_, b_, row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
          Units u{};
          float* hidden = b_.hidden + row * n_.width + at.unit;
          u.hidden = load(sums + j);
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
  bool past_ = n_.past_caches();  ///< what backward or a product reads later is written so
};

}  // namespace tessera::cpu::TESSERA_ISA
