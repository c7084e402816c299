// A fast 64-bit checksum of bytes, for finding damage and differences. Not for adversaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// The checksum of `bytes`. Every step can be undone, so two inputs of one length that differ only
/// inside one aligned group of eight bytes never collide; others do once in 2^64. The same number
/// on every machine.
[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace tessera
