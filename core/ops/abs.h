// The absolute value.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Abs : Elementwise<1> {
  static constexpr OpInfo info{
      .name = "abs", .doc = "absolute value of x", .elementwise = true, .saved_inputs = 0b1};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// |x|; of complex numbers the real modulus. The gradient at 0 is 0. No bools.
[[nodiscard]] Tensor abs(const Tensor& x);

}  // namespace tessera
