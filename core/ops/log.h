// The natural logarithm.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Log : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "log",
                               .doc = "natural logarithm of x",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// ln x; integers become f32. -inf at 0, nan below it.
[[nodiscard]] Tensor log(const Tensor& x);

}  // namespace tessera
