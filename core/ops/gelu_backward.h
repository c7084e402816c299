// The gradient of gelu, in one pass over memory.
#pragma once

#include <tessera/core/ops/gelu.h>
#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct GeluBackward : RealOnly<FloatElementwise<2>> {
  static constexpr OpInfo info{.name = "gelu_backward",
                               .doc = "g times the derivative of gelu at x",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  using Attrs = GeluAttrs;
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// g gelu'(x), both of one shape.
[[nodiscard]] Tensor gelu_backward(const Tensor& g, const Tensor& x, bool tanh_form);

}  // namespace tessera
