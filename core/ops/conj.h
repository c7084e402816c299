// Complex conjugation.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Conj : Elementwise<1> {
  static constexpr OpInfo info{
      .name = "conj", .doc = "the complex conjugate of x", .elementwise = true};
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// The complex conjugate; a real x is returned as it is.
[[nodiscard]] Tensor conj(const Tensor& x);

}  // namespace tessera
