// A rank that a signal ends says so, and ends as it would have.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/fatal_signals.h>

namespace tessera::dist {
namespace {

/// Signals that sanitizers leave to the program.
class Ended : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, Ended, testing::Values(SIGABRT, SIGILL));

/// A rank whose third collective is the last.
std::shared_ptr<HeartbeatTable> table_of(Communicator& comm) {
  const auto table = comm.heartbeat_table();
  table->own().launched = 3;
  table->own().kind = static_cast<std::uint8_t>(CollectiveKind::all_reduce);
  table->own().label.store("gradients");
  return table;
}

TEST_P(Ended, NamesTheRankAndItsLastCollective) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const auto world = make_loopback(2);
        const FatalSignals signals(table_of(*world[1]), "here");
        std::raise(GetParam());
      },
      testing::KilledBySignal(GetParam()),
      "(^|\n).rank 1. world: rank 1 .host here, its last is 3, all_reduce 'gradients'. is ended by "
      "SIG");
}

TEST(FatalSignalsDeathTest, NamesTheRankWhenItsWorldIsGoneToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        { const FatalSignals signals(table_of(*make_loopback(1).front()), "here"); }
        std::abort();
      },
      testing::KilledBySignal(SIGABRT),
      "^world: rank 0 .host here. is ended by SIGABRT: it called abort..\n$");
}

TEST(FatalSignalsDeathTest, AFaultOfManyThreadsIsToldOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const FatalSignals signals(table_of(*make_loopback(1).front()), "here");
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) {
          threads.emplace_back([] { std::raise(SIGILL); });
        }
        threads.front().join();
      },
      testing::KilledBySignal(SIGILL), "^world: rank 0 [^\n]* is ended by SIGILL\n$");
}

void end_with_seven(int /*signal*/) {
  std::_Exit(7);
}

TEST(FatalSignalsDeathTest, AHandlerOfTheProgramStays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGABRT, end_with_seven);
        const FatalSignals signals(table_of(*make_loopback(1).front()), "here");
        std::abort();
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace tessera::dist
