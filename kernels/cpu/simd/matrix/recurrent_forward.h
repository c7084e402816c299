// A step of some units, forward. After simd/begin.h and math.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/simd/matrix/recurrent_block.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent_cell.h>

namespace tessera::cpu::TESSERA_ISA {

template <class T, RecurrentCell kCell>
class ForwardStep {
  static constexpr int kGates = gates_of(kCell);
  static constexpr int kKept = kept_of(kCell);
  static constexpr bool kHasCell = kCell == RecurrentCell::lstm;

 public:
  ForwardStep(const RecurrentForward& call, const RecurrentBlock& block) : n_(call), b_(block) {}

  void run() {
    constexpr std::int64_t kStride = kGates * kTileColumns;
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      each_vector(
          n_, b_, row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
            begin_sums(at, b_.sums + row * kStride + j);
          });
    }
    for (int gate = 0; gate < kGates && b_.factors != nullptr; ++gate) {
      multiply<typename Factors<T>::Product>(n_.batch, b_.words, b_.factors, b_.words,
                                             b_.panel + gate * b_.panel_step,
                                             b_.sums + gate * kTileColumns, kStride);
    }
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      const bool taken = b_.time < n_.lengths[row];
      each_vector(
          n_, b_, row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
            finish(at, b_.sums + row * kStride + j, row * n_.width + at.unit, taken);
          });
      to_words<T>(b_.hidden + row * n_.width + b_.first, b_.count,
                  b_.next_factors + row * b_.words + b_.first / Factors<T>::Words::kDepth);
    }
  }

 private:
  /// Sums begin with the input's part; that of a gru's new value is added behind its gate.
  [[gnu::always_inline]] void begin_sums(const Place& at, float* sums) const {
    for (int gate = 0; gate < kGates; ++gate) {
      const bool apart = kCell == RecurrentCell::gru && gate == 2;
      VF sum = apart ? zero() : at.load<T>(n_.x, kGates, gate);
      if (n_.bias != nullptr) {
        sum = sum + load_up_to(n_.bias + gate * n_.width + at.unit, at.lanes);
      }
      store(sums + gate * kTileColumns, sum);
    }
  }

  [[gnu::always_inline]] void finish(const Place& at, const float* sums, std::int64_t state,
                                     bool taken) const {
    Units u{};
    u.hidden = load_up_to(b_.hidden + state, at.lanes);
    at.store<T>(n_.before, u.hidden);
    if (kHasCell) {
      u.cell = load_up_to(b_.cell + state, at.lanes);
      at.store<float>(n_.cells, u.cell);
    }
    VF output = zero();
    if (taken) {
      for (int gate = 0; gate < kGates; ++gate) {
        u.gates[gate] = load(sums + gate * kTileColumns);
      }
      const bool apart = kCell == RecurrentCell::gru;
      step_cell<kCell>(u, apart ? at.load<T>(n_.x, kGates, kGates - 1) : zero());
      output = u.hidden;
      store_up_to(b_.hidden + state, u.hidden, at.lanes);
      if (kHasCell) {
        store_up_to(b_.cell + state, u.cell, at.lanes);
      }
    }
    at.store<T>(n_.output, output);
    for (int i = 0; i < kKept; ++i) {
      at.store<T>(n_.kept_values, u.kept[i], kKept, i);
    }
  }

  const RecurrentForward& n_;
  const RecurrentBlock& b_;
};

}  // namespace tessera::cpu::TESSERA_ISA
