#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/device/affinity.h>
#include <tessera/core/device/thread_pool.h>

namespace tessera {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_num_threads(GetParam()); }
  void TearDown() override { set_num_threads(before_); }
  int before_ = num_threads();
};

std::vector<int> count_runs(std::int64_t tasks) {
  std::vector<int> runs(static_cast<std::size_t>(tasks));
  parallel_for(tasks, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
  return runs;
}

TEST_P(ThreadPoolTest, EveryTaskRunsOnce) {
  for (const std::int64_t tasks : {0, 1, 2, 3, 7, 64, 1000, 12345}) {
    EXPECT_EQ(count_runs(tasks), std::vector<int>(static_cast<std::size_t>(tasks), 1));
  }
}

TEST_P(ThreadPoolTest, ManyShortCallsInARow) {
  std::vector<std::int64_t> sums(5);
  for (int call = 0; call < 20000; ++call) {
    parallel_for(5, [&](std::int64_t i) { sums[static_cast<std::size_t>(i)] += i + call; });
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], 20000 * static_cast<std::int64_t>(i) + 19999LL * 20000 / 2);
  }
}

TEST_P(ThreadPoolTest, CallsAfterAPauseWakeTheSleepers) {
  for (int call = 0; call < 5; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(count_runs(50), std::vector<int>(50, 1));
  }
}

TEST_P(ThreadPoolTest, CallerWaitsForALongTask) {
  std::atomic<int> ended = 0;
  parallel_for(4, [&](std::int64_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 30 : 10));
    ++ended;
  });
  EXPECT_EQ(ended, 4);
}

TEST_P(ThreadPoolTest, NestedCallsRunOnTheirOwnThread) {
  std::vector<int> inner(64);
  std::atomic<int> strayed = 0;
  parallel_for(8, [&](std::int64_t i) {
    const auto self = std::this_thread::get_id();
    parallel_for(8, [&](std::int64_t j) {
      strayed += std::this_thread::get_id() != self;
      ++inner[static_cast<std::size_t>(8 * i + j)];
    });
  });
  EXPECT_EQ(inner, std::vector<int>(64, 1));
  EXPECT_EQ(strayed, 0);
}

TEST_P(ThreadPoolTest, ExceptionIsRethrownAndThePoolGoesOn) {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(100, [&](std::int64_t i) { check<IoError>(i != 37, "task ", i); });
      ADD_FAILURE() << "nothing thrown";
    } catch (const IoError& error) {
      EXPECT_STREQ(error.what(), "task 37");
    }
    EXPECT_EQ(count_runs(20), std::vector<int>(20, 1));
  }
}

TEST_P(ThreadPoolTest, TasksSeeTheCallersContext) {
  const auto context = std::make_shared<Context>();
  context->rank = 5;
  std::atomic<int> wrong = 0;
  {
    const ContextScope scope(context);
    parallel_for(200, [&](std::int64_t) { wrong += Context::current().rank != 5; });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(context.use_count(), 1);  // the pool keeps no rank alive
}

TEST_P(ThreadPoolTest, ConcurrentCallersAllFinish) {
  constexpr int kCallers = 4;
  std::vector<std::int64_t> totals(kCallers);
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&totals, c] {
      const auto context = std::make_shared<Context>();
      context->rank = c;
      const ContextScope scope(context);
      for (int call = 0; call < 2000; ++call) {
        std::vector<std::int64_t> parts(9);
        parallel_for(9, [&](std::int64_t i) {
          parts[static_cast<std::size_t>(i)] = i + Context::current().rank;
        });
        totals[static_cast<std::size_t>(c)] += std::accumulate(parts.begin(), parts.end(), 0LL);
      }
    });
  }
  for (auto& caller : callers) {
    caller.join();
  }
  for (int c = 0; c < kCallers; ++c) {
    EXPECT_EQ(totals[static_cast<std::size_t>(c)], 2000 * (36 + 9 * c));
  }
}

TEST_P(ThreadPoolTest, ResizeWhileOthersCall) {
  std::atomic<bool> stop = false;
  std::thread caller([&] {
    while (!stop) {
      EXPECT_EQ(count_runs(16), std::vector<int>(16, 1));
    }
  });
  for (int round = 0; round < 20; ++round) {
    set_num_threads(1 + round % 4);
    EXPECT_EQ(count_runs(16), std::vector<int>(16, 1));
  }
  stop = true;
  caller.join();
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 3, 16));

TEST(ThreadPool, UsesItsThreads) {
  const int before = num_threads();
  set_num_threads(3);
  std::atomic<int> arrived = 0;
  std::vector<std::thread::id> ids(3);
  parallel_for(3, [&](std::int64_t i) {  // nobody can run two of them
    ++arrived;
    while (arrived < 3) {
      std::this_thread::yield();
    }
    ids[static_cast<std::size_t>(i)] = std::this_thread::get_id();
  });
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3U);
  set_num_threads(before);
}

TEST(ThreadPool, ThreadsBeginWithTheirOwnShares) {
  const int before = num_threads();
  set_num_threads(2);
  for (int call = 0; call < 100; ++call) {
    std::mutex mutex;
    std::map<std::thread::id, std::int64_t> first;
    std::latch both(2);
    parallel_for(8, [&](std::int64_t i) {
      std::unique_lock lock(mutex);
      if (first.try_emplace(std::this_thread::get_id(), i).second) {
        lock.unlock();
        both.arrive_and_wait();
      }
    });
    ASSERT_EQ(first[std::this_thread::get_id()], 0);
    ASSERT_EQ(first.size(), 2U);
    first.erase(std::this_thread::get_id());
    ASSERT_EQ(first.begin()->second, 4);
  }
  set_num_threads(before);
}

TEST(ThreadPool, RejectsBadCounts) {
  EXPECT_THROW(set_num_threads(0), InvalidArgument);
  EXPECT_THROW(set_num_threads(kMostThreads + 1), InvalidArgument);
  EXPECT_THROW(pin_threads(-1), InvalidArgument);
  EXPECT_THROW(parallel_for(2, [](std::int64_t) { set_num_threads(2); }), InvalidArgument);
}

int allowed_cores() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof(mask), &mask);
  return CPU_COUNT(&mask);
}

TEST(ThreadPool, PinsWhenItFitsAndUnpins) {
  const int before = num_threads();
  const int cores = static_cast<int>(process_cores().size());
  set_num_threads(cores);
  EXPECT_FALSE(pin_threads(1));
  EXPECT_EQ(allowed_cores(), cores);
  ASSERT_TRUE(pin_threads(0));
  std::vector<int> allowed(static_cast<std::size_t>(cores));
  std::atomic<int> arrived = 0;
  parallel_for(cores, [&](std::int64_t i) {
    ++arrived;
    while (arrived < cores) {
      std::this_thread::yield();
    }
    allowed[static_cast<std::size_t>(i)] = allowed_cores();
  });
  EXPECT_EQ(allowed, std::vector<int>(static_cast<std::size_t>(cores), 1));
  unpin_threads();
  EXPECT_EQ(allowed_cores(), cores);
  set_num_threads(before);
}

}  // namespace
}  // namespace tessera
