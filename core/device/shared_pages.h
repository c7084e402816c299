// Memory that forked processes share.
#pragma once

#include <cstddef>
#include <memory>

namespace tessera {

/// Zeroed pages of at least `nbytes`; what one process writes, those forked from it later see, and
/// the other way round. Throws DeviceError when there is no memory.
[[nodiscard]] std::shared_ptr<void> shared_pages(std::size_t nbytes);

}  // namespace tessera
