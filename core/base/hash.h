// A fast 64-bit checksum of bytes, for finding damage and differences. Not for adversaries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// The checksum of bytes that come in pieces: that of all of them at one go.
class BytesHash {
 public:
  /// Every piece but the last must have a multiple of this many bytes.
  static constexpr std::size_t kStripe = 64;

  explicit BytesHash(std::uint64_t seed = 0);
  void add(std::span<const std::byte> piece);
  /// The hash of what was added; nothing may be added afterwards.
  [[nodiscard]] std::uint64_t value() const;

 private:
  static constexpr std::size_t kLanes = 8;  // independent chains hide the multiplier's latency

  std::uint64_t seed_;
  std::uint64_t size_ = 0;
  std::array<std::uint64_t, kLanes> lanes_;
  std::array<std::byte, kStripe> rest_{};  ///< what is no whole stripe
};

/// The checksum of `bytes`. Every step can be undone, so two inputs of one length that differ only
/// inside one aligned group of eight bytes never collide; others do once in 2^64. The same number
/// on every machine.
[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace tessera
