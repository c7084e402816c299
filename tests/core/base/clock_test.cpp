#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/error.h>

#include "support/simulated_clock.h"

namespace tessera {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(RealClock, GoesForwardAndWaitsLongEnough) {
  RealClock real;
  const Time before = real.now();
  real.sleep_for(milliseconds(5));
  EXPECT_GE(real.now() - before, milliseconds(5));
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const Time deadline = real.now() + milliseconds(5);
  while (real.wait_until(never, lock, deadline)) {
  }
  EXPECT_GE(real.now(), deadline);
}

TEST(SimulatedClock, SleepingJumps) {
  SimulatedClock simulated;
  const ClockScope scope(simulated);
  const Time before = clock().now();
  const WallTime wall = clock().wall_time();
  clock().sleep_for(hours(5));
  EXPECT_EQ(clock().now() - before, hours(5));
  EXPECT_EQ(clock().wall_time() - wall, hours(5));
  clock().sleep_until(before);
  EXPECT_EQ(clock().now() - before, hours(5));
  EXPECT_THROW(simulated.advance(milliseconds(-1)), InvalidArgument);
}

TEST(SimulatedClock, SleepersWaitForTheirTime) {
  SimulatedClock simulated(SimulatedClock::Sleep::waits);
  std::atomic<int> woken = 0;
  std::thread sleeper([&] {
    simulated.sleep_for(hours(2));
    ++woken;
  });
  while (simulated.waiting() == 0) {
    std::this_thread::yield();
  }
  simulated.advance(hours(1));
  EXPECT_EQ(woken, 0);
  simulated.advance(hours(1));
  sleeper.join();
  EXPECT_EQ(woken, 1);
}

TEST(SimulatedClock, TimedWaitEndsAtItsDeadlineOrBySignal) {
  SimulatedClock simulated(SimulatedClock::Sleep::waits);
  std::mutex mutex;
  std::condition_variable condition;
  const Time deadline = simulated.now() + hours(1);
  bool in_time = true;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    while (simulated.wait_until(condition, lock, deadline)) {
    }
    in_time = false;
  });
  while (simulated.waiting() == 0) {
    std::this_thread::yield();
  }
  simulated.advance(hours(1));
  waiter.join();
  EXPECT_FALSE(in_time);
  EXPECT_EQ(simulated.waiting(), 0);
}

TEST(ClockScope, GivesBackTheRealClock) {
  SimulatedClock simulated;
  Clock* const real = &clock();
  {
    const ClockScope scope(simulated);
    EXPECT_EQ(&clock(), &simulated);
  }
  EXPECT_EQ(&clock(), real);
}

// Whatever in core/ asks the system for the time cannot be simulated.
TEST(ClockSeam, NothingElseInCoreReadsAClock) {
  const auto root = std::filesystem::path(TESSERA_TEST_FOLDER) / "../core";
  const auto allowed = root / "base/clock.cpp";
  ASSERT_TRUE(std::filesystem::exists(allowed));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || entry.path() == allowed) {
      continue;
    }
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    for (const std::string_view direct : {"_clock::now(", "this_thread::sleep", "clock_gettime("}) {
      EXPECT_EQ(text.str().find(direct), std::string::npos) << entry.path() << ": " << direct;
    }
  }
}

}  // namespace
}  // namespace tessera
