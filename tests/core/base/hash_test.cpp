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
  EXPECT_EQ(hash_of(""), 0xb3f801d7552c5911ULL);
  EXPECT_EQ(hash_of("tessera"), 0x8606d921f52f1d92ULL);
  EXPECT_EQ(hash_of(counted), 0x5a3062e6d58e322ULL);
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

}  // namespace
}  // namespace tessera
