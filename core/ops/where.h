// Choosing between two tensors, element by element.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Where : Elementwise<3> {
  static constexpr OpInfo info{.name = "where",
                               .doc = "x where the condition holds, else y, broadcast",
                               .elementwise = true,
                               .saved_inputs = 0b001};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// x where `condition` (bool) holds, y elsewhere; all three broadcast, x and y are promoted.
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& x, Number y);
[[nodiscard]] Tensor where(const Tensor& condition, Number x, const Tensor& y);

}  // namespace tessera
