// The host allocator: memory of tensors and workspaces, kept for reuse.
//
// Fresh memory costs a page fault and zeroing; a training loop asks for the same sizes again and
// again. So freed blocks stay in the process, and large ones lie on huge pages. Built for the
// address sanitizer there is no cache, so that it sees every block's life.
#pragma once

#include <cstddef>
#include <utility>

#include <tessera/core/device/arena.h>
#include <tessera/core/device/memory_stats.h>

namespace tessera {

/// Memory from `allocate`. A plain value: whoever holds it passes it to `deallocate` once.
struct MemoryBlock {
  std::byte* data = nullptr;      ///< aligned to 64 bytes; contents undefined; null for 0 bytes
  std::size_t nbytes = 0;         ///< as asked for
  Arena::Chunk* chunk = nullptr;  ///< the allocator's own
  MemoryCategory category = MemoryCategory::other;
};

/// A block of `nbytes`, counted under `category`. Thread-safe. Throws DeviceError when the system
/// or its control group has not so much memory left.
[[nodiscard]] MemoryBlock allocate(std::size_t nbytes,
                                   MemoryCategory category = current_category());
/// Takes it back, on any thread.
void deallocate(const MemoryBlock& block) noexcept;

/// Gives cached memory back to the system, as far as it makes up whole huge pages; returns the
/// bytes. Not needed in normal running: the next use pays for page faults again.
std::size_t trim_memory() noexcept;

/// Owns a block; for workspaces. Movable.
class HeldMemory {
 public:
  HeldMemory() = default;
  explicit HeldMemory(std::size_t nbytes, MemoryCategory category = MemoryCategory::workspace)
      : block_(allocate(nbytes, category)) {}
  HeldMemory(HeldMemory&& other) noexcept : block_(std::exchange(other.block_, {})) {}
  HeldMemory& operator=(HeldMemory&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~HeldMemory() { deallocate(block_); }

  [[nodiscard]] std::byte* data() const noexcept { return block_.data; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return block_.nbytes; }
  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return reinterpret_cast<T*>(block_.data);
  }

 private:
  MemoryBlock block_;
};

}  // namespace tessera
