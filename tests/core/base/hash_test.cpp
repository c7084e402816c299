#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/base/hash.h>

namespace tessera {
namespace {

std::uint64_t hash_of(const std::string& text, std::uint64_t seed = 0) {
  return hash_bytes(std::as_bytes(std::span(text)), seed);
}

TEST(Hash, StaysTheSameForEver) {  // files hold these numbers
  std::string counted;
  for (int i = 0; i < 1000; ++i) {
    counted += static_cast<char>(i % 251);
  }
  EXPECT_EQ(hash_of(""), 0x271ffe8081e18172ULL);
  EXPECT_EQ(hash_of("tessera"), 0x543b540a30ef236bULL);
  EXPECT_EQ(hash_of(counted), 0xc7afe6a4a72cb5cdULL);
}

TEST(Hash, OfPiecesIsThatOfTheWhole) {
  const std::string text(1000, 'x');
  const auto bytes = std::as_bytes(std::span(text));
  BytesHash hash(3);
  hash.add(bytes.first(640));
  hash.add(bytes.subspan(640));
  EXPECT_EQ(hash.value(), hash_bytes(bytes, 3));
}

TEST(Hash, SeesEveryBitLengthAndSeed) {
  std::set<std::uint64_t> seen;
  std::size_t made = 0;
  std::string text(200, '\0');
  for (std::size_t size = 0; size <= text.size(); ++size, ++made) {
    seen.insert(hash_of(text.substr(0, size)));
  }
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit, ++made) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(1U << (bit % 8));
    seen.insert(hash_of(flipped));
  }
  for (std::uint64_t seed = 1; seed < 100; ++seed, ++made) {
    seen.insert(hash_of(text, seed));
  }
  EXPECT_EQ(seen.size(), made);
}

TEST(Hash, SeesEveryPairOfBits) {  // two words of one lane, and words of two lanes
  constexpr std::size_t kBits = 8 * 144;
  const std::string text(144, '\x5a');
  std::vector<std::uint64_t> seen;
  for (std::size_t a = 0; a < kBits; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {  // equal ones: a single flip
      std::string flipped = text;
      flipped[a / 8] = static_cast<char>(flipped[a / 8] ^ (1 << (a % 8)));
      flipped[b / 8] = static_cast<char>(flipped[b / 8] ^ (a == b ? 0 : 1 << (b % 8)));
      seen.push_back(hash_of(flipped));
    }
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
  EXPECT_FALSE(std::ranges::binary_search(seen, hash_of(text)));
}

}  // namespace
}  // namespace tessera
