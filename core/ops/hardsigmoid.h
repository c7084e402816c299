// The logistic function in three straight pieces.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Hardsigmoid : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{.name = "hardsigmoid",
                               .doc = "x / 6 + 1 / 2, but at least 0 and at most 1",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// min(max(x + 3, 0), 6) / 6; integers become f32. The gradient at -3 and 3 is 0. No complex
/// numbers.
[[nodiscard]] Tensor hardsigmoid(const Tensor& x);
const Tensor& hardsigmoid_(const Tensor& x);

}  // namespace tessera
