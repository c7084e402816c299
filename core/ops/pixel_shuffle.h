// Channels as positions, and back.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// x (..., C factor^2, H, W) -> (..., C, H factor, W factor): the channels of a group become a
/// block of positions (Shi et al., "Real-Time Single Image and Video Super-Resolution Using an
/// Efficient Sub-Pixel Convolutional Neural Network", CVPR 2016).
[[nodiscard]] Tensor pixel_shuffle(const Tensor& x, std::int64_t factor);

/// x (..., C, H factor, W factor) -> (..., C factor^2, H, W).
[[nodiscard]] Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor);

}  // namespace tessera
