// What backward ops ask of the gradients and saved results that they take.
#pragma once

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Throws InvalidArgument unless input `i` has `shape` and a floating dtype.
inline void check_saved(const Infer& c, int i, const Shape& shape) {
  const Tensor& x = c.input(i);
  check(x.shape() == shape && is_floating(x.dtype()), c.op(), ": input ", i, " does not fit; got ",
        x.shape(), " ", x.dtype(), ", expected ", shape, " of a floating dtype");
}

}  // namespace tessera
