// Small working memory of kernels: one growing block per thread and purpose, kept between calls.
// What may be large is a HeldMemory of core/device/allocator.h instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::cpu {

/// What a block is for; blocks of different purposes may be in use at the same time.
enum class Scratch { panels, tiles, attention, rows, library, library_rows, count };

/// At least `bytes` of this thread's block for `purpose`, aligned to 64, contents undefined.
/// Valid until the same thread asks for the same purpose again.
[[nodiscard]] void* scratch(Scratch purpose, std::size_t bytes);

template <class T>
[[nodiscard]] T* scratch_array(Scratch purpose, std::int64_t count) {
  return static_cast<T*>(scratch(purpose, static_cast<std::size_t>(count) * sizeof(T)));
}

}  // namespace tessera::cpu
