#include <tessera/core/base/hash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tessera {
namespace {

constexpr std::uint64_t kOdd = 0x9fb21c651e98df25ULL;    // odd, so multiplying by it can be undone
constexpr std::uint64_t kMixer = 0xd6e8feb86659fd93ULL;  // odd as well
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kLanes = 8;  // independent chains hide the multiplier's latency
constexpr std::size_t kStripe = kLanes * kWord;

std::uint64_t load(const std::byte* from, std::size_t size = kWord) {
  std::array<std::byte, kWord> bytes{};
  std::memcpy(bytes.data(), from, size);
  if constexpr (std::endian::native == std::endian::big) {
    std::ranges::reverse(bytes);
  }
  return std::bit_cast<std::uint64_t>(bytes);
}

/// Two multiplications: after one alone, a flip of the word's top bit would move one bit of the
/// state, which a flip in the next word could undo.
std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
  return std::rotl(state + word * kMixer, 31) * kOdd;
}

std::uint64_t avalanche(std::uint64_t state) {
  state = (state ^ (state >> 32)) * kMixer;
  state = (state ^ (state >> 29)) * kOdd;
  return state ^ (state >> 32);
}

std::uint64_t absorb_stripes(const std::byte* from, std::size_t stripes, std::uint64_t seed) {
  std::array<std::uint64_t, kLanes> lanes;
  for (std::size_t i = 0; i < kLanes; ++i) {
    lanes[i] = avalanche(seed + i + 1);
  }
  for (std::size_t stripe = 0; stripe < stripes; ++stripe, from += kStripe) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i] = absorb(lanes[i], load(from + i * kWord));
    }
  }
  std::uint64_t state = seed;
  for (const std::uint64_t lane : lanes) {
    state = absorb(state, lane);
  }
  return state;
}

}  // namespace

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  const std::size_t stripes = bytes.size() / kStripe;
  std::uint64_t state = absorb_stripes(bytes.data(), stripes, seed);
  for (std::size_t at = stripes * kStripe; at < bytes.size(); at += kWord) {
    state = absorb(state, load(bytes.data() + at, std::min(kWord, bytes.size() - at)));
  }
  return avalanche(absorb(state, bytes.size()));
}

}  // namespace tessera
