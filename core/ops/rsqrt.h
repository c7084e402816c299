// The reciprocal of the square root.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Rsqrt : FloatElementwise<1> {
  static constexpr OpInfo info{.name = "rsqrt",
                               .doc = "1 / sqrt(x)",
                               .elementwise = true,
                               .in_place = true,
                               .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// 1 / sqrt(x); integers become f32. inf at 0, nan below it.
[[nodiscard]] Tensor rsqrt(const Tensor& x);

}  // namespace tessera
