// The sine.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Sin : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "sin",
                               .doc = "sine of x in radians",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// sin x, in radians; integers become f32.
[[nodiscard]] Tensor sin(const Tensor& x);

}  // namespace tessera
