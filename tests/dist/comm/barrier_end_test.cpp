// A barrier ends well on all of its ranks or on none, whenever one of them hears of a failure.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/anonymous_memory.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/shared/shared_group.h>

#include "support/sweep.h"

namespace tessera::dist {
namespace {

/// Two ranks whose steps a test takes one by one.
class TwoRanks {
 public:
  TwoRanks() {
    for (int rank = 0; rank < 2; ++rank) {
      ranks_.push_back(std::make_unique<SharedGroup>(control_, Membership{"pair", rank, {0, 1}},
                                                     std::make_shared<OneProcess>(), nullptr));
    }
  }
  SharedGroup& operator[](std::size_t rank) { return *ranks_[rank]; }

 private:
  CommBuffer memory_ = anonymous_memory(ControlBlock::bytes(2, 2));
  ControlBlock control_{memory_.data, 2, 2};
  std::vector<std::unique_ptr<SharedGroup>> ranks_;
};

TEST(BarrierEnd, OfABarrierThatOneRankGaveUpIsNoEndForWhoComesLater) {
  TwoRanks ranks;
  const Collective barrier;
  Task first = ranks[0].start(barrier);
  EXPECT_EQ(first.advance(), Task::Outcome::moved);
  EXPECT_EQ(first.advance(), Task::Outcome::waiting);
  ASSERT_FALSE(ranks[0].must_end_well(barrier));
  Task second = ranks[1].start(barrier);
  ASSERT_EQ(second.advance(), Task::Outcome::moved);
  for (int look = 0; look < 3; ++look) {
    EXPECT_EQ(second.advance(), Task::Outcome::waiting);
    EXPECT_EQ(first.advance(), Task::Outcome::waiting);
  }
  EXPECT_FALSE(ranks[1].must_end_well(barrier));
}

TEST(BarrierEnd, ThatOneRankSawIsThatOfWhoHearsOfAFailureFirst) {
  TwoRanks ranks;
  const Collective barrier;
  for (int round = 0; round < 3; ++round) {
    Task first = ranks[0].start(barrier);
    EXPECT_EQ(first.advance(), Task::Outcome::moved);
    Task second = ranks[1].start(barrier);
    EXPECT_EQ(second.advance(), Task::Outcome::done);
    ASSERT_TRUE(ranks[0].must_end_well(barrier));
    EXPECT_EQ(first.advance(), Task::Outcome::done);
  }
}

TEST(BarrierEnd, StaysThatOfABarrierBehindWhichTheNextOneIsGivenUp) {
  TwoRanks ranks;
  const Collective barrier;
  Task first = ranks[0].start(barrier);
  EXPECT_EQ(first.advance(), Task::Outcome::moved);
  Task second = ranks[1].start(barrier);
  ASSERT_EQ(second.advance(), Task::Outcome::done);
  Task next = ranks[1].start(barrier);
  EXPECT_EQ(next.advance(), Task::Outcome::moved);
  EXPECT_FALSE(ranks[1].must_end_well(barrier));
  ASSERT_TRUE(ranks[0].must_end_well(barrier));
  EXPECT_EQ(first.advance(), Task::Outcome::done);
  EXPECT_FALSE(ranks[1].must_end_well(barrier));
}

TEST(BarrierEnd, IsTheSameForAllWhoAskAtOnce) {
  BarrierEnd end;
  std::atomic<std::uint64_t> last{0};
  const int barriers = test::trials(100'000, 10'000);
  std::vector<std::vector<bool>> answers(2);
  const auto ask = [&](std::size_t rank) {
    for (std::uint64_t number = 1; number <= static_cast<std::uint64_t>(barriers); ++number) {
      last.fetch_add(1);
      while (last.load() < 2 * number) {  // nobody asks of a barrier before all came to it
        std::this_thread::yield();
      }
      answers[rank].push_back(end.decide(number, rank == 0));
    }
  };
  std::thread other(ask, 1);
  ask(0);
  other.join();
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(BarrierEnd, IsTheSameOnAllRanksOfAGroupThatIsGivenUp) {
  constexpr int kRanks = 4, kBarriers = 20;
  for (int round = 0; round < test::trials(2000, 200); ++round) {
    const auto world = make_loopback(kRanks);
    std::array<std::atomic<int>, kBarriers> well{};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          for (int i = 0; i < kBarriers; ++i) {
            barrier(*world[static_cast<std::size_t>(rank)]).wait();
            ++well[i];
          }
        } catch (const CommError&) {
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(round % 50));
    world[0]->abort(std::make_exception_ptr(CommError("given up")));
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const std::atomic<int>& of_barrier : well) {
      EXPECT_TRUE(of_barrier == 0 || of_barrier == kRanks) << of_barrier << " of " << kRanks;
    }
  }
}

}  // namespace
}  // namespace tessera::dist
