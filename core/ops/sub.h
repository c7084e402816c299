// Subtraction.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>
namespace tessera {

struct Sub : Elementwise<2> {
  static constexpr OpInfo info{.name = "sub",
                               .doc = "x - y, broadcast",
                               .elementwise = true,
                               .in_place = true,
                               .linear = LinearIn::all};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x - y with broadcasting and promotion. No bools.
[[nodiscard]] Tensor operator-(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator-(const Tensor& x, Number y);
[[nodiscard]] Tensor operator-(Number x, const Tensor& y);
/// Writes the difference into x; the result must have the shape and dtype of x.
const Tensor& sub_(const Tensor& x, const Tensor& y);
const Tensor& sub_(const Tensor& x, Number y);

}  // namespace tessera
