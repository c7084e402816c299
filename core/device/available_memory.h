// How much memory is left on this machine.
#pragma once

#include <cstddef>

namespace tessera {

/// Bytes that the system could still give to this process: what Linux estimates to be available
/// without swapping, and free swap; no more than what is left of the limits of its control groups
/// (v1 or v2). The largest number where the system does not say. Takes some tens of microseconds.
[[nodiscard]] std::size_t available_memory();

/// Whether so many bytes more are left; true without a look where they are few.
[[nodiscard]] bool is_available(std::size_t nbytes);

}  // namespace tessera
