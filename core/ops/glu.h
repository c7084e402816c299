// The gated linear unit.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// a sigmoid(b), where a and b are the first and the second half of x along `dim` (Dauphin et al.,
/// "Language Modeling with Gated Convolutional Networks", ICML 2017). Throws InvalidArgument when
/// the dim cannot be halved.
[[nodiscard]] Tensor glu(const Tensor& x, int dim = -1);

}  // namespace tessera
