// Where the smallest element lies.
#pragma once

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

struct Argmin : ExtremePosition {
  static constexpr OpInfo info{.name = "argmin",
                               .doc = "position of the smallest element along a dim",
                               .differentiable = false};
  static void reference(Kernel& k, const Attrs& attrs);
};

/// The position (i64) of the smallest element along `dim`, the first one of equals; a nan counts as
/// smallest. No bools and no complex numbers. Throws InvalidArgument for nothing.
[[nodiscard]] Tensor argmin(const Tensor& x, int dim, bool keepdim = false);
/// The position in row-major order of the smallest of all elements.
[[nodiscard]] Tensor argmin(const Tensor& x);

}  // namespace tessera
