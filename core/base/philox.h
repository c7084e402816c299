// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as
// 1, 2, 3", SC 2011). A number depends on its key and counter alone, so any rank can compute any
// element of any random tensor.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tessera {

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Ten rounds of Philox4x32 on `counter` under `key`.
[[nodiscard]] constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) noexcept {
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return counter;
}

/// What random numbers are for. A stream is a (purpose, key) pair; element i of a stream is word
/// i % 4 of block i / 4.
struct RandomStream {
  std::uint64_t key = 0;
  std::uint64_t high = 0;  ///< upper half of the 128-bit counter

  [[nodiscard]] constexpr PhiloxBlock block(std::uint64_t index) const noexcept {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                   static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)},
                  key);
  }
  [[nodiscard]] constexpr std::uint32_t word(std::uint64_t element) const noexcept {
    return block(element / 4)[element % 4];
  }
};

/// Mixes two 64-bit words into one (the finaliser of SplitMix64 over their combination).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a + 0x9E3779B97F4A7C15U * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// A 64-bit hash of a name (FNV-1a, then mixed).
[[nodiscard]] constexpr std::uint64_t hash_name(std::string_view name) noexcept {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const char c : name) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return mix(h, name.size());
}

/// Uniform in [0, 1), with 24 random bits.
[[nodiscard]] constexpr float to_uniform(std::uint32_t word) noexcept {
  return static_cast<float>(word >> 8) * 0x1p-24F;
}

}  // namespace tessera
