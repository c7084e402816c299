// Waiting for a collective up to a deadline.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

namespace tessera::dist {
namespace {

TEST(Deadlines, WaitingGivesUp) {
  run_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 0) {
      const Work early = barrier(comm);
      EXPECT_THROW(early.wait(std::chrono::milliseconds(20)), Timeout);
      EXPECT_FALSE(early.done());
      send<float>(comm, std::vector<float>{1.0F}, 1).wait();
      early.wait();
    } else {
      std::vector<float> go(1);
      receive<float>(comm, go, 0).wait();
      barrier(comm).wait();
    }
  });
}

TEST(Deadlines, AreOfTheProcessClock) {
  SimulatedClock simulated;
  const ClockScope scope(simulated);
  run_ranks(2, [&](Communicator& comm) {
    if (comm.rank() == 0) {
      const Work early = barrier(comm);
      std::thread hours([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        simulated.advance(std::chrono::hours(2));
      });
      EXPECT_THROW(early.wait(std::chrono::hours(1)), Timeout);
      hours.join();
      send<float>(comm, std::vector<float>{1.0F}, 1).wait();
      early.wait();
    } else {
      std::vector<float> go(1);
      receive<float>(comm, go, 0).wait();
      barrier(comm).wait();
    }
  });
}

}  // namespace
}  // namespace tessera::dist
