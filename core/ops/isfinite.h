// Finding infinities and nans.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct Isfinite : Predicate<1> {
  static constexpr OpInfo info{.name = "isfinite",
                               .doc = "true where x is neither infinite nor nan",
                               .differentiable = false,
                               .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

/// bool: true where x is neither infinite nor nan.
[[nodiscard]] Tensor isfinite(const Tensor& x);

}  // namespace tessera
