// The cosine.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Cos : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "cos",
                               .doc = "cosine of x in radians",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// cos x, in radians; integers become f32.
[[nodiscard]] Tensor cos(const Tensor& x);

}  // namespace tessera
