// Small blocks of memory: lists by size, a front of them in every thread.
#pragma once

#include <bit>
#include <cstddef>

#include <tessera/core/device/arena.h>

namespace tessera {

/// Sizes of small blocks: multiples of 64 bytes up to 1 KiB, then eight a doubling.
struct SizeClass {
  static constexpr std::size_t kLargest = 32768;
  static constexpr std::size_t kCount = 56;

  /// The smallest class that holds `nbytes` in [1, kLargest].
  [[nodiscard]] static constexpr std::size_t of(std::size_t nbytes) noexcept {
    if (nbytes <= 1024) {
      return (nbytes - 1) / 64;
    }
    const auto shift = static_cast<std::size_t>(std::bit_width(nbytes - 1)) - 4;
    return 8 * (shift - 6) + ((nbytes - 1) >> shift);
  }
  [[nodiscard]] static constexpr std::size_t nbytes(std::size_t index) noexcept {
    if (index < 16) {
      return 64 * (index + 1);
    }
    return (index % 8 + 9) << (index / 8 + 5);
  }
};

/// A block of at least `nbytes` in [1, SizeClass::kLargest], aligned to 64 bytes. Slabs come from
/// `arena`, always the same one, and stay with the cache.
[[nodiscard]] std::byte* take_small(std::size_t nbytes, Arena& arena);
/// Gives it back, from any thread.
void give_small(std::byte* data, std::size_t nbytes) noexcept;

}  // namespace tessera
