// The logistic function in three straight pieces, and the sigmoid linear unit made of it.
#pragma once

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
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

/// x hardsigmoid(x) (Howard et al., "Searching for MobileNetV3", ICCV 2019).
[[nodiscard]] inline Tensor hardswish(const Tensor& x) {
  return x * hardsigmoid(x);
}
inline const Tensor& hardswish_(const Tensor& x) {
  return x.copy_(hardswish(clone(x)));  // the gradient reads what x was
}

}  // namespace tessera
