// Memory that did not come from the allocator of tensors, in the process's memory statistics.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <tessera/core/device/memory_stats.h>

namespace tessera::dist {

/// `owner` of `nbytes` of memory, which count as `category` until nobody holds what this returns.
[[nodiscard]] std::shared_ptr<const void> counted(std::shared_ptr<const void> owner,
                                                  std::size_t nbytes, MemoryCategory category);

/// The standard allocator, whose memory counts as `kCategory`.
template <class T, MemoryCategory kCategory = MemoryCategory::communication>
struct CountedAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = CountedAllocator<U, kCategory>;
  };

  CountedAllocator() = default;
  template <class U>
  CountedAllocator(const CountedAllocator<U, kCategory>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t n) {
    T* memory = std::allocator<T>().allocate(n);
    count_memory(kCategory, static_cast<std::ptrdiff_t>(n * sizeof(T)));
    return memory;
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    count_memory(kCategory, -static_cast<std::ptrdiff_t>(n * sizeof(T)));
    std::allocator<T>().deallocate(memory, n);
  }
  friend bool operator==(const CountedAllocator&, const CountedAllocator&) = default;
};

/// What a collective sends from, receives into or stages payloads in.
template <class T>
using Room = std::vector<T, CountedAllocator<T>>;

}  // namespace tessera::dist
