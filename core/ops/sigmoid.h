// The logistic function.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Sigmoid : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "sigmoid",
                               .doc = "1 / (1 + exp(-x))",
                               .elementwise = true,
                               .in_place = true,
                               .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// 1 / (1 + e^-x); integers become f32.
[[nodiscard]] Tensor sigmoid(const Tensor& x);

}  // namespace tessera
