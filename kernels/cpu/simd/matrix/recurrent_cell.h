// The formulas of recurrent cells on vectors of units, forwards and backwards. After simd/begin.h
// and math.h.
#pragma once

#include <tessera/core/ops/recurrent.h>

namespace tessera::cpu::TESSERA_ISA {

/// A vector of units in one step: sums of the gates, and the states.
template <class Number>
struct Units {
  using V = VectorOf<Number>;
  V gates[4];
  V hidden, cell;
  V kept[4];
};

template <RecurrentCell kCell, class Number>
[[gnu::always_inline]] inline void step_cell(Units<Number>& u, VectorOf<Number> x_new) {
  using V = VectorOf<Number>;
  if constexpr (kCell == RecurrentCell::rnn_tanh) {
    u.hidden = u.kept[0] = tanh(u.gates[0]);
  } else if constexpr (kCell == RecurrentCell::rnn_relu) {
    u.hidden = u.kept[0] = max(V{}, u.gates[0]);
  } else if constexpr (kCell == RecurrentCell::lstm) {
    u.kept[0] = logistic(u.gates[0]);
    u.kept[1] = logistic(u.gates[1]);
    u.kept[2] = tanh(u.gates[2]);
    u.kept[3] = logistic(u.gates[3]);
    u.cell = fma(u.kept[1], u.cell, u.kept[0] * u.kept[2]);
    u.hidden = u.kept[3] * tanh(u.cell);
  } else {
    u.kept[0] = logistic(u.gates[0]);
    u.kept[1] = logistic(u.gates[1]);
    u.kept[2] = tanh(fma(u.kept[0], u.gates[2], x_new));
    u.kept[3] = u.gates[2];
    u.hidden = fma(u.kept[1], u.hidden - u.kept[2], u.kept[2]);
  }
}

/// The cell backwards: `u.kept` and the gradients of the states come in; gradients of the gates and
/// of the states before go out, and `x_new` is the gradient of the input's part of the new value.
template <RecurrentCell kCell, class Number>
[[gnu::always_inline]] inline void step_back(Units<Number>& u, VectorOf<Number> before,
                                             VectorOf<Number> cell_before,
                                             VectorOf<Number>& x_new) {
  using V = VectorOf<Number>;
  const V one = all<V>(1.0);
  const V* kept = u.kept;
  if constexpr (kCell == RecurrentCell::rnn_tanh) {
    u.gates[0] = u.hidden * fnma(kept[0], kept[0], one);
    u.hidden = V{};
  } else if constexpr (kCell == RecurrentCell::rnn_relu) {
    u.gates[0] = select_less(V{}, kept[0], u.hidden, V{});
    u.hidden = V{};
  } else if constexpr (kCell == RecurrentCell::lstm) {
    const V squashed = tanh(fma(kept[1], cell_before, kept[0] * kept[2]));
    const V cell = fma(u.hidden * kept[3], fnma(squashed, squashed, one), u.cell);
    u.gates[0] = cell * kept[2] * kept[0] * (one - kept[0]);
    u.gates[1] = cell * cell_before * kept[1] * (one - kept[1]);
    u.gates[2] = cell * kept[0] * fnma(kept[2], kept[2], one);
    u.gates[3] = u.hidden * squashed * kept[3] * (one - kept[3]);
    u.cell = cell * kept[1];
    u.hidden = V{};
  } else {
    x_new = u.hidden * (one - kept[1]) * fnma(kept[2], kept[2], one);
    u.gates[0] = x_new * kept[3] * kept[0] * (one - kept[0]);
    u.gates[1] = u.hidden * (before - kept[2]) * kept[1] * (one - kept[1]);
    u.gates[2] = x_new * kept[0];
    u.hidden = u.hidden * kept[1];
  }
}

}  // namespace tessera::cpu::TESSERA_ISA
