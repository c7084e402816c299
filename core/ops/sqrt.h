// The square root.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Sqrt : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "sqrt",
                               .doc = "square root of x",
                               .elementwise = true,
                               .in_place = true,
                               .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// The square root; integers become f32. nan below 0.
[[nodiscard]] Tensor sqrt(const Tensor& x);

}  // namespace tessera
