// Addition.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Add : Elementwise<2> {
  static constexpr OpInfo info{.name = "add",
                               .doc = "x + y, broadcast; bools are combined with or",
                               .elementwise = true,
                               .in_place = true,
                               .linear = LinearIn::all};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x + y with broadcasting and promotion.
[[nodiscard]] Tensor operator+(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator+(const Tensor& x, Number y);
[[nodiscard]] Tensor operator+(Number x, const Tensor& y);
/// x += y; the result must have the shape and dtype of x.
const Tensor& add_(const Tensor& x, const Tensor& y);
const Tensor& add_(const Tensor& x, Number y);

}  // namespace tessera
