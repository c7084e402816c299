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

}  // namespace

BytesHash::BytesHash(std::uint64_t seed) : seed_(seed) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    lanes_[i] = avalanche(seed + i + 1);
  }
}

void BytesHash::add(std::span<const std::byte> piece) {
  std::array<std::uint64_t, kLanes> lanes = lanes_;  // in registers
  const std::byte* from = piece.data();
  const std::byte* end = from + piece.size() / kStripe * kStripe;
  for (; from != end; from += kStripe) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i] = absorb(lanes[i], load(from + i * kWord));
    }
  }
  lanes_ = lanes;
  size_ += piece.size();
  std::ranges::copy(piece.last(piece.size() % kStripe), rest_.begin());
}

std::uint64_t BytesHash::value() const {
  std::uint64_t state = seed_;
  for (const std::uint64_t lane : lanes_) {
    state = absorb(state, lane);
  }
  const std::size_t rest = size_ % kStripe;
  for (std::size_t at = 0; at < rest; at += kWord) {
    state = absorb(state, load(rest_.data() + at, std::min(kWord, rest - at)));
  }
  return avalanche(absorb(state, size_));
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  BytesHash hash(seed);
  hash.add(bytes);
  return hash.value();
}

}  // namespace tessera
