// Free lists of threads end with them.
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <thread>
#include <vector>

#include <tessera/core/base/pooled.h>

namespace tessera {
namespace {

struct Block : Pooled<Block> {
  char bytes[1000];
};

/// Blocks that one thread makes and another, which makes none, frees.
void free_elsewhere(int count) {
  std::vector<std::unique_ptr<Block>> blocks;
  for (int i = 0; i < count; ++i) {
    blocks.push_back(std::make_unique<Block>());
  }
  std::thread([&] { blocks.clear(); }).join();
}

TEST(Pooled, keeps_nothing_of_a_thread_that_only_freed) {
  free_elsewhere(100);
  const std::size_t before = mallinfo2().uordblks;
  for (int round = 0; round < 10; ++round) {
    free_elsewhere(100);
  }
  EXPECT_LT(mallinfo2().uordblks, before + 100'000);  // of a million bytes
}

}  // namespace
}  // namespace tessera
