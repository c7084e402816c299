// The hyperbolic tangent.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Tanh : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "tanh",
                               .doc = "hyperbolic tangent of x",
                               .elementwise = true,
                               .in_place = true,
                               .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// tanh x; integers become f32.
[[nodiscard]] Tensor tanh(const Tensor& x);

}  // namespace tessera
