// The gradient of relu, in one pass over memory.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct ReluBackward : RealOnly<Elementwise<2>> {
  static constexpr OpInfo info{.name = "relu_backward",
                               .doc = "0 where x <= 0, else g",
                               .elementwise = true,
                               .saved_inputs = 0b10};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// 0 where x <= 0, else g, also where x is nan; x may be the input of relu or its output.
[[nodiscard]] Tensor relu_backward(const Tensor& g, const Tensor& x);

}  // namespace tessera
