// The larger of two.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>
namespace tessera {

struct Maximum : RealOnly<Elementwise<2>> {
  static constexpr OpInfo info{.name = "maximum",
                               .doc = "the larger of x and y, broadcast",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// The larger of x and y; nan when either is, and then both get the gradient. Where they
/// are equal, each gets half of it.
[[nodiscard]] Tensor maximum(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor maximum(const Tensor& x, Number y);
[[nodiscard]] Tensor maximum(Number x, const Tensor& y);

}  // namespace tessera
