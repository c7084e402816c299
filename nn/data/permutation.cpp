#include <tessera/nn/data/permutation.h>

#include <bit>

#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>

namespace tessera::data {
namespace {

/// Halves of small domains have few bits, which takes more rounds than a cipher would need.
constexpr int kRounds = 12;

std::uint64_t low_mask(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t key)
    : size_(static_cast<std::uint64_t>(size)), key_(key) {
  check(size >= 1, "permutation: nothing to permute; got size ", size, ", expected at least 1");
  const int bits = static_cast<int>(std::bit_width(size_ - 1));
  low_bits_ = bits / 2;
  high_bits_ = bits - low_bits_;
}

std::uint64_t Permutation::encipher(std::uint64_t value) const {
  std::uint64_t low = value & low_mask(low_bits_);
  std::uint64_t high = value >> low_bits_;
  for (int round = 0; round < kRounds; ++round) {
    const RandomStream stream{.key = key_, .high = static_cast<std::uint64_t>(round)};
    if (round % 2 == 0) {
      high ^= stream.block(low)[0] & low_mask(high_bits_);
    } else {
      low ^= stream.block(high)[0] & low_mask(low_bits_);
    }
  }
  return high << low_bits_ | low;
}

std::int64_t Permutation::operator[](std::int64_t place) const {
  auto value = static_cast<std::uint64_t>(place);
  do {
    value = encipher(value);
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

}  // namespace tessera::data
