// Thread-ranks end when one of them has ended early.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

namespace tessera::dist {
namespace {

TEST(RunRanks, ARankThatWaitsForOneThatHasEndedFailsAtOnceAndNamesIt) {
  for (const int ranks : {2, 3, 4, 8, 16}) {
    std::string text;
    try {
      run_ranks(ranks, [&](Communicator& comm) {
        std::vector<float> sums(8);
        for (int step = 0; step < (comm.rank() + 1 == comm.size() ? 2 : 3); ++step) {
          all_reduce<float>(comm, sums, ReduceOp::sum, "bucket 0 (weight)").wait();
        }
      });
    } catch (const PeerLost& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("all_reduce 3 'bucket 0 (weight)'; missing: rank " +
                        std::to_string(ranks - 1) + " (host "),
              text.npos)
        << ranks << " ranks: " << text;
  }
}

}  // namespace
}  // namespace tessera::dist
