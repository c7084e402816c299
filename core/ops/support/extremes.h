// What max, min, argmax, argmin, topk, maximum and minimum share: nan counts as best, the first of
// equals wins.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

/// True when `a` comes before `b` among the largest (or the smallest). For the largest a nan comes
/// before all numbers, for the smallest behind them.
template <Real T>
[[nodiscard]] bool sorts_before(T a, T b, bool largest) {
  if (a != a || b != b) {
    return largest ? a != a && b == b : a == a && b != b;
  }
  return largest ? a > b : a < b;
}

/// Where the largest or smallest of `values`, which are not none, lies; a nan if there is one.
template <Real T>
[[nodiscard]] std::size_t best_of(std::span<const T> values, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size() && values[best] == values[best]; ++i) {
    const bool better = largest ? values[i] > values[best] : values[i] < values[best];
    best = values[i] != values[i] || better ? i : best;
  }
  return best;
}

/// What max and min share.
struct Extreme : OverDims {
  static void infer(Infer& c, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);  ///< equal ones share the gradient
};
void reference_extreme(Kernel& k, const ReduceAttrs& attrs, bool largest);

/// What argmax and argmin share. Positions count inside the piece, so only dims that stay can be
/// cut.
struct ExtremePosition : OverDims {
  static void infer(Infer& c, const Attrs& attrs);
};
void reference_position(Kernel& k, const ReduceAttrs& attrs, bool largest);

/// The gradient of maximum (`largest`) and minimum, whose inputs share it where they are equal.
void larger_vjp(Vjp& v, bool largest);

}  // namespace tessera
