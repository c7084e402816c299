// A process that cannot end by itself is ended; ranks wait for each other at the end.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/share_text.h>
#include <tessera/dist/process_watchdog.h>

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

TEST(LastResortDeathTest, EndsAProcessThatIsStuck) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const ProcessWatchdog guard(after(50ms), 3, [] { return std::string("rank 7 is gone"); });
        std::this_thread::sleep_for(60s);
      },
      testing::ExitedWithCode(3), "rank 7 is gone");
}

TEST(ProcessWatchdog, LeavesAloneWhatEndsInTime) {
  const ProcessWatchdog in_time(after(60s), 3, [] { return std::string("too late"); });
  const ProcessWatchdog never(after(0ms), 3, [] { return std::string("no limit"); });
  std::this_thread::sleep_for(250ms);
}

TEST(ShareText, GivesEveryRankTheTextOfOne) {
  run_ranks(3, [](Communicator& comm) {
    const std::string mine = "rank " + std::to_string(comm.rank());
    EXPECT_EQ(share_text(comm, mine, 2, "names"), "rank 2");
    EXPECT_EQ(share_text(comm, "", 1, "names"), "");
  });
}

}  // namespace
}  // namespace tessera::dist
