// Thread-ranks end when one of them has ended early.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

namespace tessera::dist {
namespace {

/// The last of `ranks` ends a step before the others.
void expect_named(int ranks, std::chrono::milliseconds deadline) {
  const auto run = [](Communicator& comm) {
    std::vector<float> sums(8);
    for (int step = 0; step < (comm.rank() + 1 == comm.size() ? 2 : 3); ++step) {
      all_reduce<float>(comm, sums, ReduceOp::sum, "bucket 0 (weight)").wait();
    }
  };
  std::string text;
  try {
    run_ranks(ranks, run, {.deadline = deadline});
  } catch (const PeerLost& error) {
    text = error.what();
  }
  EXPECT_NE(text.find("all_reduce 3 'bucket 0 (weight)'; missing: rank " +
                      std::to_string(ranks - 1) + " (host "),
            text.npos)
      << ranks << " ranks: " << text;
}

TEST(RunRanks, ARankThatWaitsForOneThatHasEndedFailsAtOnceAndNamesIt) {
  for (const int ranks : {2, 3, 4, 8, 16}) {
    expect_named(ranks, std::chrono::minutes(1));
  }
}

TEST(RunRanks, ARankThatHasEndedIsNoticedThoughThereIsNoDeadline) {
  for (const int ranks : {2, 3}) {
    expect_named(ranks, std::chrono::milliseconds(0));
  }
}

}  // namespace
}  // namespace tessera::dist
