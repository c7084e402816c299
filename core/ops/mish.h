// Mish, a smooth activation that is not monotonous (Misra, arXiv:1908.08681).
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Mish : RealOnly<FloatElementwise<1>> {
  static constexpr OpInfo info{.name = "mish",
                               .doc = "x * tanh(softplus(x))",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x tanh(ln(1 + e^x)); integers become f32. No complex numbers.
[[nodiscard]] Tensor mish(const Tensor& x);
const Tensor& mish_(const Tensor& x);

}  // namespace tessera
