// Dropout of whole channels.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// x (samples, channels, ...) with every channel of every sample zeroed with probability `p` and
/// multiplied with 1 / (1 - p) otherwise (Tompson et al., "Efficient Object Localization Using
/// Convolutional Networks", CVPR 2015). Throws InvalidArgument for fewer than 2 dims and for p
/// outside [0, 1].
[[nodiscard]] Tensor channel_dropout(const Tensor& x, double p);

}  // namespace tessera
