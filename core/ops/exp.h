// The exponential function.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Exp : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "exp",
                               .doc = "e to the power of x",
                               .elementwise = true,
                               .in_place = true,
                               .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// e^x; integers become f32.
[[nodiscard]] Tensor exp(const Tensor& x);

}  // namespace tessera
