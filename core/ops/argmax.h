// Where the largest element lies.
#pragma once

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

struct Argmax : ExtremePosition {
  static constexpr OpInfo info{.name = "argmax",
                               .doc = "position of the largest element along a dim",
                               .differentiable = false};
  static void reference(Kernel& k, const Attrs& attrs);
};

/// The position (i64) of the largest element along `dim`, the first one of equals; a nan counts as
/// largest. No bools and no complex numbers. Throws InvalidArgument for nothing.
[[nodiscard]] Tensor argmax(const Tensor& x, int dim, bool keepdim = false);
/// The position in row-major order of the largest of all elements.
[[nodiscard]] Tensor argmax(const Tensor& x);

}  // namespace tessera
