#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tessera::dist
