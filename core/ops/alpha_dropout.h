// Dropout that keeps mean and variance of what SELU gives.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// x with every element replaced, with probability `p`, by the value that SELU has far left of 0,
/// and all scaled and shifted so that mean 0 and variance 1 stay (Klambauer et al.,
/// "Self-Normalizing Neural Networks", NeurIPS 2017). Throws InvalidArgument for p outside [0, 1].
[[nodiscard]] Tensor alpha_dropout(const Tensor& x, double p);

}  // namespace tessera
