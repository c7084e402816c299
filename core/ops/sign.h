// The sign.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Sign : RealOnly<Elementwise<1>> {
  static constexpr OpInfo info{
      .name = "sign", .doc = "-1, 0 or 1 by the sign of x", .elementwise = true, .in_place = true};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// -1, 0 or 1; 0 for nan. The gradient is 0. No complex numbers.
[[nodiscard]] Tensor sign(const Tensor& x);

}  // namespace tessera
