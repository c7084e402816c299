// The sigmoid linear unit.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Silu : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{.name = "silu",
                               .doc = "x * sigmoid(x)",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x sigmoid(x); integers become f32. No complex numbers.
[[nodiscard]] Tensor silu(const Tensor& x);
const Tensor& silu_(const Tensor& x);

}  // namespace tessera
