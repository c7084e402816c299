// Waiting for a collective up to a deadline.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

#include "support/simulated_clock.h"

namespace tessera::dist {
namespace {

/// Rank 0 has launched a barrier when it calls `wait`; rank 1 comes to it afterwards. Nobody else
/// watches the ranks' deadlines.
template <class Wait>
void before_the_other_comes(const Wait& wait) {
  constexpr LoopbackOptions kUnwatched{.watched = false};
  const auto run = [&](Communicator& comm) {
    std::vector<float> go(1);
    if (comm.rank() == 0) {
      const Work early = barrier(comm);
      wait(early);
      EXPECT_FALSE(early.done());
      send<float>(comm, go, 1).wait();
      early.wait();
    } else {
      receive<float>(comm, go, 0).wait();
      barrier(comm).wait();
    }
  };
  run_ranks(2, run, kUnwatched);
}

TEST(Deadlines, WaitingGivesUp) {
  before_the_other_comes(
      [](const Work& early) { EXPECT_THROW(early.wait(std::chrono::milliseconds(20)), Timeout); });
}

TEST(Deadlines, AreOfTheProcessClock) {
  SimulatedClock simulated;
  const ClockScope scope(simulated);
  before_the_other_comes([&](const Work& early) {
    std::atomic<bool> over{false};
    std::thread hours([&] {  // again and again: who knows when the wait begins
      while (!over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        simulated.advance(std::chrono::hours(2));
      }
    });
    EXPECT_THROW(early.wait(std::chrono::hours(1)), Timeout);
    over = true;
    hours.join();
  });
}

TEST(Deadlines, LongerThanTheClockAreNone) {
  run_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_NO_THROW(barrier(comm).wait(Duration::max()));
  });
}

}  // namespace
}  // namespace tessera::dist
