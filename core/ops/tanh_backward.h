// The gradient of tanh, in one pass over memory.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct TanhBackward : RealOnly<FloatElementwise<2>> {
  static constexpr OpInfo info{
      .name = "tanh_backward", .doc = "g * (1 - y * y)", .elementwise = true, .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// g (1 - y^2), where y is the output of tanh.
[[nodiscard]] Tensor tanh_backward(const Tensor& g, const Tensor& y);

}  // namespace tessera
