// Powers.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>
namespace tessera {

struct Pow : Elementwise<2> {
  static constexpr OpInfo info{.name = "pow",
                               .doc = "x to the power of y, broadcast",
                               .elementwise = true,
                               .saved_inputs = 0b11,
                               .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x^y with broadcasting and promotion. Integers stay integers; those below 1 are 0.
[[nodiscard]] Tensor pow(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor pow(const Tensor& x, Number y);
[[nodiscard]] Tensor pow(Number x, const Tensor& y);

}  // namespace tessera
