// Copies of memory that nobody reads again soon.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tessera::dist {

/// Copies `source` to `offset` bytes behind each of `targets`, spread over the pool, with stores
/// that go past the caches where the machine has them.
void copy_past_caches(std::span<const std::byte> source, const std::vector<std::byte*>& targets,
                      std::size_t offset);

}  // namespace tessera::dist
