// Writing one tensor into another.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Copy : Elementwise<2> {
  static constexpr OpInfo info{.name = "copy",
                               .doc = "the elements of y, in the shape and dtype of x",
                               .elementwise = true,
                               .in_place = true,
                               .linear = LinearIn::all};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// Writes `value` into every element of x. Throws ValueError for what its dtype cannot hold, as
/// Number::check_fits says.
const Tensor& fill_(const Tensor& x, Number value);
const Tensor& zero_(const Tensor& x);

}  // namespace tessera
