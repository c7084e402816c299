// The order of elements of images and volumes in memory.
#pragma once

#include <cstdint>

namespace tessera::nn {

/// How tensors of images (n, c, h, w) and volumes (n, c, d, h, w) lie in memory.
enum class MemoryFormat : std::uint8_t {
  contiguous,    ///< as the shape says
  channels_last  ///< the channels of a pixel side by side
};

}  // namespace tessera::nn
