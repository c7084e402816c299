// Zero-filled pages of one process.
#pragma once

#include <cstddef>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Asks for huge pages. Throws DeviceError when there is no memory.
[[nodiscard]] CommBuffer anonymous_memory(std::size_t nbytes);

}  // namespace tessera::dist
