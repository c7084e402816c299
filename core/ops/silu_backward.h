// The gradient of silu, in one pass over memory.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct SiluBackward : RealOnly<FloatElementwise<2>> {
  static constexpr OpInfo info{.name = "silu_backward",
                               .doc = "g times the derivative of silu at x",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// g silu'(x), both of one shape.
[[nodiscard]] Tensor silu_backward(const Tensor& g, const Tensor& x);

}  // namespace tessera
