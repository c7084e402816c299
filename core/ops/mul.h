// Multiplication.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Mul : Elementwise<2> {
  static constexpr OpInfo info{.name = "mul",
                               .doc = "x * y, broadcast; bools are combined with and",
                               .elementwise = true,
                               .in_place = true,
                               .saved_inputs = 0b11,
                               .linear = LinearIn::either};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x * y with broadcasting and promotion.
[[nodiscard]] Tensor operator*(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator*(const Tensor& x, Number y);
[[nodiscard]] Tensor operator*(Number x, const Tensor& y);
/// x *= y; the result must have the shape and dtype of x.
const Tensor& mul_(const Tensor& x, const Tensor& y);
const Tensor& mul_(const Tensor& x, Number y);

}  // namespace tessera
