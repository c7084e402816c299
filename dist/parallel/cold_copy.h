// Copies of memory that nobody reads again soon.
#pragma once

#include <cstddef>
#include <vector>

namespace tessera::dist {

/// Copies `nbytes` from `source` to `offset` bytes behind each of `targets`, spread over the pool,
/// with stores that go past the caches where the machine has them.
void copy_past_caches(const std::byte* source, std::size_t nbytes,
                      const std::vector<std::byte*>& targets, std::size_t offset);

}  // namespace tessera::dist
