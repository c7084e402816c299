// Division.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>
namespace tessera {

struct Div : FloatElementwise<2> {
  static constexpr OpInfo info{.name = "div",
                               .doc = "x / y, broadcast",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b11,
                               .linear = LinearIn::first};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x / y with broadcasting and promotion; integers are divided as f32.
[[nodiscard]] Tensor operator/(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator/(const Tensor& x, Number y);
[[nodiscard]] Tensor operator/(Number x, const Tensor& y);
/// Writes the quotient into x; the result must have the shape and dtype of x.
const Tensor& div_(const Tensor& x, const Tensor& y);
const Tensor& div_(const Tensor& x, Number y);

}  // namespace tessera
