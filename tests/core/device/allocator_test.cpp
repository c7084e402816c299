#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <tessera/core/base/error.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/device/available_memory.h>

namespace tessera {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

constexpr std::size_t kMiB = std::size_t{1} << 20;

void fill(const MemoryBlock& block, unsigned char seed) {
  std::memset(block.data, seed, block.nbytes);
}

bool holds(const MemoryBlock& block, unsigned char seed) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(block.data);
  return std::all_of(bytes, bytes + block.nbytes, [&](unsigned char b) { return b == seed; });
}

std::size_t random_size(std::mt19937& random) {
  const int scale = std::uniform_int_distribution<int>(0, 21)(random);
  return std::uniform_int_distribution<std::size_t>(1, std::size_t{2} << scale)(random);
}

TEST(Allocator, BlocksAreAlignedAndKeepTheirBytes) {
  std::mt19937 random(1);
  std::vector<std::pair<MemoryBlock, unsigned char>> live;
  for (int step = 0; step < 4000; ++step) {
    if (live.size() > 40 || (!live.empty() && random() % 3 == 0)) {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(holds(live.back().first, live.back().second)) << "step " << step;
      deallocate(live.back().first);
      live.pop_back();
      continue;
    }
    const MemoryBlock block = allocate(random_size(random));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0U);
    const auto seed = static_cast<unsigned char>(random());
    fill(block, seed);
    live.emplace_back(block, seed);
  }
  for (const auto& [block, seed] : live) {
    EXPECT_TRUE(holds(block, seed));
    deallocate(block);
  }
}

TEST(Allocator, NoBytesNoMemory) {
  const MemoryBlock block = allocate(0);
  EXPECT_EQ(block.data, nullptr);
  deallocate(block);
  deallocate(MemoryBlock{});
}

TEST(Allocator, ImpossibleRequestThrows) {
  EXPECT_THROW((void)allocate(SIZE_MAX), DeviceError);
  EXPECT_THROW((void)allocate(std::size_t{1} << 60), DeviceError);
}

TEST(Allocator, MoreThanTheMachineHasThrowsBeforeAnythingIsUsed) {
  const std::size_t reserved = memory_stats().reserved;
  const std::size_t left = available_memory();
  ASSERT_GT(left, std::size_t{64} << 20);
  EXPECT_THROW((void)allocate(left + left / 2), DeviceError);
  EXPECT_LE(memory_stats().reserved, reserved);
  const HeldMemory block(std::size_t{32} << 20);
  EXPECT_NE(block.data(), nullptr);
}

TEST(Allocator, BlocksMoveBetweenThreads) {
  constexpr int kTakers = 4;
  const std::size_t before = memory_stats().current;
  std::mutex mutex;
  std::vector<std::pair<MemoryBlock, unsigned char>> pool;
  std::atomic<int> damaged = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kTakers; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int step = 0; step < 3000; ++step) {
        const MemoryBlock block = allocate(1 + random() % 9000);
        const auto seed = static_cast<unsigned char>(random());
        fill(block, seed);
        std::pair<MemoryBlock, unsigned char> victim{block, seed};
        {
          const std::lock_guard lock(mutex);
          pool.push_back(victim);
          std::swap(pool[random() % pool.size()], pool.back());
          if (pool.size() < 50) {
            continue;
          }
          victim = pool.back();
          pool.pop_back();
        }
        damaged += !holds(victim.first, victim.second);
        deallocate(victim.first);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& [block, seed] : pool) {
    damaged += !holds(block, seed);
    deallocate(block);
  }
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(memory_stats().current, before);
}

TEST(Allocator, CountsByCategory) {
  const MemoryStats before = memory_stats();
  const MemoryBlock small = allocate(100, MemoryCategory::gradient);
  MemoryBlock large;
  {
    const CategoryScope outer(MemoryCategory::parameter);
    {
      const CategoryScope inner(MemoryCategory::optimizer);
      large = allocate(3 * kMiB);
    }
    EXPECT_EQ(current_category(), MemoryCategory::parameter);
  }
  EXPECT_EQ(current_category(), MemoryCategory::other);
  const MemoryStats during = memory_stats();
  EXPECT_EQ(during[MemoryCategory::gradient] - before[MemoryCategory::gradient], 100U);
  EXPECT_EQ(during[MemoryCategory::optimizer] - before[MemoryCategory::optimizer], 3 * kMiB);
  EXPECT_EQ(during.current - before.current, 3 * kMiB + 100);
  deallocate(small);
  std::thread([&] { deallocate(large); }).join();
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.current, before.current);
  EXPECT_EQ(after.by_category, before.by_category);
}

TEST(Allocator, PeakIsTheMostEverInUse) {
  reset_peak();
  const MemoryStats before = memory_stats();
  EXPECT_EQ(before.peak, before.current);
  { const HeldMemory a(10 * kMiB), b(20 * kMiB); }
  { const HeldMemory c(15 * kMiB); }
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.current, before.current);
  EXPECT_GE(after.peak, before.current + 30 * kMiB);
  EXPECT_LE(after.peak, before.current + 30 * kMiB + (64 << 10));
  reset_peak();
  EXPECT_EQ(memory_stats().peak, memory_stats().current);
}

TEST(Allocator, ForeignMemoryIsCounted) {
  const MemoryStats before = memory_stats();
  count_memory(MemoryCategory::communication, 5000);
  EXPECT_EQ(memory_stats()[MemoryCategory::communication],
            before[MemoryCategory::communication] + 5000);
  count_memory(MemoryCategory::communication, -5000);
  EXPECT_EQ(memory_stats().current, before.current);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// What a step does: activations pile up, gradients appear while they go.
void step_once(const std::vector<std::size_t>& sizes) {
  std::vector<MemoryBlock> activations;
  std::vector<MemoryBlock> gradients;
  for (const std::size_t size : sizes) {
    activations.push_back(allocate(size, MemoryCategory::activation));
    fill(activations.back(), 1);
  }
  while (!activations.empty()) {
    gradients.push_back(allocate(activations.back().nbytes, MemoryCategory::gradient));
    fill(gradients.back(), 2);
    deallocate(activations.back());
    activations.pop_back();
  }
  for (const MemoryBlock& block : gradients) {
    deallocate(block);
  }
}

TEST(Allocator, RepeatedStepsCauseNoPageFaultsAndReserveNoMore) {
  if (!kCaches) {  // the address sanitizer's build
    EXPECT_EQ(memory_stats().reserved, 0U);
    return;
  }
  std::mt19937 random(3);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 60; ++i) {
    sizes.push_back(random_size(random));
  }
  step_once(sizes);
  step_once(sizes);
  const std::size_t reserved = memory_stats().reserved;
  const long faults = page_faults();
  for (int i = 0; i < 20; ++i) {
    step_once(sizes);
  }
  EXPECT_EQ(memory_stats().reserved, reserved);
  EXPECT_LE(page_faults() - faults, 20);  // the test's own vectors
}

TEST(Allocator, MemoryBesideTheCacheIsInUseAndReserved) {
  const MemoryStats before = memory_stats();
  count_memory(MemoryCategory::communication, 5 * kMiB);
  const MemoryStats now = memory_stats();
  count_memory(MemoryCategory::communication, -static_cast<std::ptrdiff_t>(5 * kMiB));
  EXPECT_EQ(now[MemoryCategory::communication], before[MemoryCategory::communication] + 5 * kMiB);
  EXPECT_EQ(now.reserved, before.reserved + 5 * kMiB);
  EXPECT_EQ(memory_stats().reserved, before.reserved);
}

TEST(Allocator, TrimGivesBackWhatIsFreeOnly) {
  if (!kCaches) {
    EXPECT_EQ(trim_memory(), 0U);
    return;
  }
  const MemoryBlock kept = allocate(8 * kMiB);
  const MemoryBlock freed = allocate(64 * kMiB);
  fill(kept, 7);
  fill(freed, 8);
  deallocate(freed);
  const std::size_t reserved = memory_stats().reserved;
  const std::size_t trimmed = trim_memory();
  EXPECT_GE(trimmed, 60 * kMiB);
  EXPECT_EQ(memory_stats().reserved, reserved - trimmed);
  EXPECT_TRUE(holds(kept, 7));
  EXPECT_EQ(trim_memory(), 0U);
  const HeldMemory again(64 * kMiB);
  std::memset(again.data(), 9, again.nbytes());
  EXPECT_TRUE(holds(kept, 7));
  deallocate(kept);
}

}  // namespace
}  // namespace tessera
