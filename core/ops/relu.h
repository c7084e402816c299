// The rectified linear unit.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Relu : Elementwise<1> {
  static constexpr OpInfo info{.name = "relu",
                               .doc = "max(x, 0)",
                               .elementwise = true,
                               .in_place = true,
                               .saved_outputs = 0b1};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// max(x, 0). The gradient at 0 is 0; nan stays nan, and its gradient passes. Throws TypeError for
/// bools and complex numbers.
[[nodiscard]] Tensor relu(const Tensor& x);
const Tensor& relu_(const Tensor& x);

}  // namespace tessera
