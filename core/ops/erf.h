// The error function.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Erf : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{.name = "erf",
                               .doc = "error function of x",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// erf x; integers become f32. No complex numbers.
[[nodiscard]] Tensor erf(const Tensor& x);

}  // namespace tessera
