#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/device/arena.h>
#include <tessera/core/device/small_blocks.h>

namespace tessera {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST(Arena, FreedChunksJoinAgain) {
  Arena arena(64 * kMebibyte);
  std::vector<Arena::Chunk*> chunks;
  for (int i = 0; i < 64; ++i) {
    chunks.push_back(arena.allocate(kMebibyte));
  }
  const std::byte* const begin = chunks.front()->data;
  std::mt19937 random(2);
  std::ranges::shuffle(chunks, random);
  for (Arena::Chunk* chunk : chunks) {
    arena.free(chunk);
  }
  EXPECT_EQ(arena.allocate(64 * kMebibyte)->data, begin);  // the whole segment is one chunk
  EXPECT_EQ(arena.reserved(), 64 * kMebibyte);
}

TEST(Arena, TakesTheBestFit) {
  Arena arena(64 * kMebibyte);
  std::vector<Arena::Chunk*> holes;
  for (const std::size_t kib : {900, 700, 710, 720, 2000}) {
    holes.push_back(arena.allocate(kib << 10));
    (void)arena.allocate(kMebibyte);  // keeps the holes apart
  }
  std::vector<const std::byte*> places;
  for (Arena::Chunk* hole : holes) {
    places.push_back(hole->data);
    arena.free(hole);
  }
  EXPECT_EQ(arena.allocate(705 << 10)->data, places[2]);
  EXPECT_EQ(arena.allocate(711 << 10)->data, places[3]);
  EXPECT_EQ(arena.allocate(701 << 10)->data, places[0]);
  EXPECT_EQ(arena.allocate(1000 << 10)->data, places[4]);
}

TEST(Arena, ChunksNeverOverlapAndWasteLessThanAGranule) {
  Arena arena(8 * kMebibyte);
  std::map<const std::byte*, Arena::Chunk*> live;
  std::mt19937 random(5);
  for (int step = 0; step < 20000; ++step) {
    if (live.size() > 60 || (!live.empty() && random() % 2 == 0)) {
      const auto victim = std::next(live.begin(), random() % live.size());
      arena.free(victim->second);
      live.erase(victim);
      continue;
    }
    const std::size_t nbytes = 1 + random() % (std::size_t{1} << (random() % 20));
    Arena::Chunk* const chunk = arena.allocate(nbytes);
    ASSERT_LT(chunk->nbytes - nbytes, Arena::kGranule);
    const auto after = live.lower_bound(chunk->data);
    ASSERT_TRUE(after == live.end() || chunk->data + chunk->nbytes <= after->first);
    ASSERT_TRUE(after == live.begin() ||
                std::prev(after)->first + std::prev(after)->second->nbytes <= chunk->data);
    live[chunk->data] = chunk;
  }
}

TEST(Arena, RequestLargerThanASegment) {
  Arena arena(4 * kMebibyte);
  Arena::Chunk* const chunk = arena.allocate(33 * kMebibyte + 1);
  std::memset(chunk->data, 1, chunk->nbytes);
  arena.free(chunk);
  EXPECT_EQ(arena.trim(), 34 * kMebibyte);
  EXPECT_EQ(arena.reserved(), 0U);
}

TEST(SmallBlocks, ClassesHoldTheirSizesWithLittleWaste) {
  for (std::size_t nbytes = 1; nbytes <= SizeClass::kLargest; ++nbytes) {
    const std::size_t index = SizeClass::of(nbytes);
    ASSERT_LT(index, SizeClass::kCount);
    const std::size_t size = SizeClass::nbytes(index);
    ASSERT_GE(size, nbytes);
    ASSERT_EQ(size % 64, 0U);
    ASSERT_TRUE(index == 0 || SizeClass::nbytes(index - 1) < nbytes) << nbytes;
    ASSERT_LE(size - nbytes, std::max<std::size_t>(63, nbytes / 8)) << nbytes;
  }
}

}  // namespace
}  // namespace tessera
