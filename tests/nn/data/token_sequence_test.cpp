#include <tessera/nn/data/token_sequence.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>

namespace tessera::data {
namespace {

TEST(TokenSequence, reads_bytes_and_words) {
  const TokenSequence bytes(std::vector<std::uint8_t>{1, 2, 255});
  const TokenSequence words(std::vector<std::uint16_t>{1, 2, 50256});
  EXPECT_EQ(bytes.size(), 3);
  EXPECT_EQ(bytes[2], 255);
  EXPECT_EQ(words[2], 50256);
  std::vector<std::int64_t> ids(2);
  words.copy(1, ids);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{2, 50256}));
}

TEST(TokenSequence, hash_sees_every_token_and_the_length) {
  std::vector<std::uint8_t> bytes(100, 3);
  const std::uint64_t hash = TokenSequence(bytes).hash();
  EXPECT_EQ(TokenSequence(bytes).hash(), hash);
  for (std::uint8_t& byte : bytes) {
    byte ^= 1;
    EXPECT_NE(TokenSequence(bytes).hash(), hash);
    byte ^= 1;
  }
  bytes.push_back(0);
  EXPECT_NE(TokenSequence(bytes).hash(), hash);
}

TEST(TokenSequence, names_the_token_outside_the_vocabulary) {
  const TokenSequence words(std::vector<std::uint16_t>{5, 300, 7, 999});
  words.check_vocab(1000);
  try {
    words.check_vocab(256);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("token 300 at position 1"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("below 256 or a vocabulary of at least 1000"));
  }
}

}  // namespace
}  // namespace tessera::data
