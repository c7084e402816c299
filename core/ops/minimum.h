// The smaller of two.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>
namespace tessera {

struct Minimum : RealOnly<Elementwise<2>> {
  static constexpr OpInfo info{.name = "minimum",
                               .doc = "the smaller of x and y, broadcast",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// The smaller of x and y; nan when either is, and then both get the gradient. Where they
/// are equal, each gets half of it.
[[nodiscard]] Tensor minimum(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor minimum(const Tensor& x, Number y);
[[nodiscard]] Tensor minimum(Number x, const Tensor& y);

}  // namespace tessera
