#include <tessera/core/device/allocator.h>

#include <new>

#include <tessera/core/base/error.h>
#include <tessera/core/device/available_memory.h>
#include <tessera/core/device/small_blocks.h>

namespace tessera {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBypassCache = true;
#else
constexpr bool kBypassCache = false;
#endif

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kLargeBlock = std::size_t{1} << 20;

// Two arenas, so that no small block that lives long stands between two large ones. They are never
// destroyed: tensors may be static objects.
Arena& medium_arena() {
  static auto* const arena = new Arena(std::size_t{1} << 30);
  return *arena;
}

Arena& large_arena() {
  static auto* const arena = new Arena(std::size_t{16} << 30);
  return *arena;
}

Arena& arena_of(std::size_t nbytes) {
  return nbytes < kLargeBlock ? medium_arena() : large_arena();
}

void provide_uncached(MemoryBlock& block) {
  constexpr std::size_t kLargest = std::size_t{1} << 38;  // more would end the sanitizer's process
  if (block.nbytes <= kLargest && is_available(block.nbytes)) {
    block.data = static_cast<std::byte*>(operator new(block.nbytes, kAlignment, std::nothrow));
  }
  check<DeviceError>(block.data != nullptr, "allocate: out of memory; got a request for ",
                     block.nbytes, " bytes");
}

void provide(MemoryBlock& block) {
  if constexpr (kBypassCache) {
    provide_uncached(block);
  } else if (block.nbytes <= SizeClass::kLargest) {
    block.data = take_small(block.nbytes, medium_arena());
  } else {
    block.chunk = arena_of(block.nbytes).allocate(block.nbytes);
    block.data = block.chunk->data;
  }
}

void give_back(const MemoryBlock& block) noexcept {
  if constexpr (kBypassCache) {
    operator delete(block.data, kAlignment);
  } else if (block.chunk == nullptr) {
    give_small(block.data, block.nbytes);
  } else {
    arena_of(block.nbytes).free(block.chunk);
  }
}

}  // namespace

MemoryBlock allocate(std::size_t nbytes, MemoryCategory category) {
  MemoryBlock block{nullptr, nbytes, nullptr, category};
  if (nbytes > 0) {
    provide(block);
    detail::count_block(category, static_cast<std::ptrdiff_t>(nbytes));
  }
  return block;
}

void deallocate(const MemoryBlock& block) noexcept {
  if (block.nbytes > 0) {
    detail::count_block(block.category, -static_cast<std::ptrdiff_t>(block.nbytes));
    give_back(block);
  }
}

std::size_t trim_memory() noexcept {
  if constexpr (kBypassCache) {
    return 0;
  }
  return medium_arena().trim() + large_arena().trim();
}

}  // namespace tessera
