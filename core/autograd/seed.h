// The gradient that backward begins with.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// The gradient of `root`: `seed`, or ones where that is undefined and the root is one number, or
/// one for each microbatch; with `scale` they are weighted as Tensor::backward says. Throws
/// InvalidArgument for a seed of another shape, and for none where the root has several elements.
[[nodiscard]] Tensor seed_for(const Tensor& root, const Tensor& seed, bool scale);

}  // namespace tessera
