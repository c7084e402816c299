// The gradient of the logistic function, in one pass over memory.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct SigmoidBackward : RealOnly<FloatElementwise<2>> {
  static constexpr OpInfo info{.name = "sigmoid_backward",
                               .doc = "g * y * (1 - y)",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// g y (1 - y), where y is the output of sigmoid.
[[nodiscard]] Tensor sigmoid_backward(const Tensor& g, const Tensor& y);

}  // namespace tessera
