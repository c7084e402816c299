// Negation.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Neg : Elementwise<1> {
  static constexpr OpInfo info{
      .name = "neg", .doc = "-x", .elementwise = true, .in_place = true, .linear = LinearIn::first};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// -x; unsigned integers wrap around. No bools.
[[nodiscard]] Tensor operator-(const Tensor& x);

}  // namespace tessera
