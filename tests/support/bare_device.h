// A device without kernels, whose memory the host cannot touch: what works on it asks its backend.
#pragma once

#include <tessera/core/device/device.h>

namespace tessera::test {

/// The first of the two devices of type "bare".
[[nodiscard]] Device bare_device();

/// The first of the two devices of type "open", without kernels, too, whose memory the host
/// touches.
[[nodiscard]] Device open_device();

/// Bytes in blocks on bare devices that live now.
[[nodiscard]] std::size_t bare_bytes();

}  // namespace tessera::test
