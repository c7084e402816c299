#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

namespace tessera::dist {
namespace {

using std::chrono::milliseconds;

/// Launches a sum for which nobody waits, so that the ranks' own threads must carry it out.
void expect_ends_by_itself(Communicator& comm) {
  std::vector<float> x(1 << 18, 1.0F);
  const Work work = all_reduce<float>(comm, x, ReduceOp::sum, "nobody waits");
  for (int looks = 0; looks < 10'000 && !work.done(); ++looks) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(work.done());
  work.wait();
  EXPECT_EQ(x.back(), static_cast<float>(comm.size()));
}

TEST(Progress, carries_out_what_nobody_waits_for_however_long_it_was_idle) {
  run_ranks(2, [](Communicator& comm) {
    for (const bool waits : {false, true}) {
      for (const int idle : {0, 1, 20, 300}) {  // ms: it dozes, or sleeps until it is needed
        if (waits) {
          barrier(comm, "somebody waits").wait();
        }
        std::this_thread::sleep_for(milliseconds(idle));
        expect_ends_by_itself(comm);
      }
    }
  });
}

/// Rank 1 has done its part, gives up and writes to its memory, before rank 0 looks again.
TEST(Progress, WhatFailsOnOneRankAfterItsPartDoesNotEndWellOnAnother) {
  for (int round = 0; round < 3; ++round) {
    const auto ranks = make_loopback(2);
    std::vector<std::vector<float>> mine(2, std::vector<float>(1 << 14, 1));
    std::vector<std::vector<float>> all(2, std::vector<float>(2 << 14));
    const Work late = all_gather<float>(*ranks[0], mine[0], all[0]);
    std::this_thread::sleep_for(std::chrono::milliseconds(120));  // its thread dozes by now
    const Work early = all_gather<float>(*ranks[1], mine[1], all[1]);
    ranks[1]->abort(std::make_exception_ptr(CommError("rank 1 gave up")));
    try {
      early.wait();
    } catch (const CommError&) {
      std::ranges::fill(mine[1], 1000.0F);
    }
    try {
      late.wait();
      EXPECT_EQ(std::ranges::count(all[0], 1000.0F), 0);
    } catch (const CommError& error) {
      EXPECT_STREQ(error.what(), "rank 1 gave up");
    }
  }
}

}  // namespace
}  // namespace tessera::dist
