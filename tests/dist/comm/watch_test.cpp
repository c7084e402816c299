#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/watch.h>

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

/// Done when told so.
class Told final : public WorkState {
 public:
  bool wait_until(std::chrono::steady_clock::time_point) override { return done(); }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::exception_ptr error() const override { return nullptr; }
  [[nodiscard]] std::chrono::nanoseconds duration() const override { return {}; }
  void end() { done_ = true; }

 private:
  std::atomic<bool> done_{false};
};

/// Starts work after work, each ended when the next one starts, until told to stop.
void keep_working(Watch& watch, const std::atomic<bool>& stop) {
  auto previous = std::make_shared<Told>();
  while (!stop) {
    const auto next = std::make_shared<Told>();
    Watch::Entry entry;
    entry.work = Work(next);
    previous->end();
    watch.watch(std::move(entry));
    previous = next;
  }
  previous->end();
}

TEST(Watch, never_blames_collectives_that_follow_each_other) {
  run_ranks(1,
            [](Communicator& comm) {
              Watch watch(std::shared_ptr<Communicator>(&comm, [](Communicator*) {}),
                          std::chrono::minutes(10), comm.heartbeat_table());
              std::atomic<bool> stop = false;
              std::thread worker([&] { keep_working(watch, stop); });
              for (int i = 0; i < 200'000 && !comm.heartbeat_table()->failure().written(); ++i) {
                watch.look(clock().now());
              }
              stop = true;
              worker.join();
              EXPECT_FALSE(comm.heartbeat_table()->failure().written())
                  << comm.heartbeat_table()->failure().text;
            },
            {.watched = false});
}

/// A watch of rank 0 among four, in its second collective; rank 1 is there too, and what the others
/// write in the table comes from the test.
class WatchOfFour {
 public:
  WatchOfFour(Communicator& comm, std::chrono::milliseconds deadline)
      : table_(*comm.heartbeat_table()),
        watch_(std::shared_ptr<Communicator>(&comm, [](Communicator*) {}), deadline,
               comm.heartbeat_table()) {
    Collective c;
    c.label = "first";
    watch_.announce(c);
    c.label = "second";
    Watch::Entry entry = watch_.announce(c);
    entry.work = Work(std::make_shared<Told>());
    watch_.watch(std::move(entry));
    at(1, 2, 1);
  }
  void at(int rank, std::uint64_t launched, std::uint64_t finished) {
    table_.cell(rank).launched = launched;
    table_.cell(rank).finished = finished;
  }
  void busy(int rank) {
    table_.cell(rank).activity.store("saves");
    table_.cell(rank).busy = 1;
  }
  void leaves(int rank) { table_.cell(rank).left = 1; }
  /// It has ended the first collective and waits in another group, from the first look on.
  void waits_elsewhere(int rank) {
    at(rank, 1, 1);
    elsewhere_ = rank;
  }
  /// Looks for so long, while these ranks show signs of life. Returns the complaint.
  std::string look(const std::vector<int>& living, std::chrono::milliseconds time = 5s) {
    const Time start = std::max(last_, clock().now());
    last_ = start + time;
    for (auto passed = 0ms; passed <= time; passed += 200ms) {
      for (const int rank : living) {
        ++table_.cell(rank).beats;
      }
      if (elsewhere_ >= 0) {
        table_.cell(elsewhere_).elsewhere += 200;
      }
      watch_.look(start + passed);
    }
    return table_.failure().written() ? table_.failure().text : "";
  }

 private:
  HeartbeatTable& table_;
  Watch watch_;
  int elsewhere_ = -1;
  Time last_{};
};

void expect_missing(const std::string& text, const std::vector<int>& ranks) {
  std::string named;
  for (int rank = 0; rank < 4; ++rank) {
    if (text.find("rank " + std::to_string(rank) + " (host") != text.npos) {
      named += std::to_string(rank);
    }
  }
  std::string expected;
  for (const int rank : ranks) {
    expected += std::to_string(rank);
  }
  EXPECT_EQ(named, expected) << text;
}

void with_four(const std::function<void(WatchOfFour&)>& body,
               std::chrono::milliseconds deadline = 4s) {
  run_ranks(4,
            [&](Communicator& comm) {
              if (comm.rank() == 0) {
                WatchOfFour four(comm, deadline);
                body(four);
              }
            },
            {.watched = false});
}

TEST(Watch, ARankThatWaitsForTheSilentOneInAnEarlierCollectiveIsNotBlamed) {
  with_four([](WatchOfFour& four) {
    four.at(2, 1, 0);
    four.at(3, 1, 0);
    expect_missing(four.look({1, 2}), {3});
  });
}

TEST(Watch, ARankThatIsElsewhereIsBlamedBesideTheSilentOne) {
  with_four([](WatchOfFour& four) {
    four.at(2, 1, 1);
    four.at(3, 1, 0);
    expect_missing(four.look({1, 2}), {2, 3});
  });
}

TEST(Watch, WhereAllWhoAreMissingWaitAllAreNamed) {
  with_four([](WatchOfFour& four) {
    four.at(2, 1, 0);
    four.at(3, 1, 0);
    expect_missing(four.look({1, 2, 3}), {2, 3});
  });
}

TEST(Watch, ARankThatWaitsForABusyOneIsExcusedWithIt) {
  with_four([](WatchOfFour& four) {
    four.at(2, 1, 0);
    four.at(3, 0, 0);
    four.busy(3);
    EXPECT_EQ(four.look({1, 2, 3}), "");
  });
}

TEST(Watch, ABusyRankIsWaitedForTenTimesAsLong) {
  with_four([](WatchOfFour& four) {
    four.at(2, 2, 1);
    four.at(3, 1, 1);
    four.busy(3);
    EXPECT_EQ(four.look({1, 2, 3}, 39s), "");
    expect_missing(four.look({1, 2, 3}, 2s), {3});
  });
}

TEST(Watch, SaysForWhomItWaitsLongBeforeTheDeadline) {
  std::vector<std::string> said;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { said.emplace_back(line); });
  with_four(
      [](WatchOfFour& four) {
        four.at(2, 2, 1);
        four.at(3, 1, 1);
        EXPECT_EQ(four.look({1, 2, 3}, 50s), "");
      },
      60s);
  ASSERT_EQ(said.size(), 3U);  // after 5, 15 and 45 s
  for (const std::string& line : said) {
    EXPECT_NE(line.find("s in barrier 2 'second' for rank 3 (host "), line.npos) << line;
    EXPECT_NE(line.find("; the run ends after 60 s"), line.npos) << line;
  }
  EXPECT_NE(said[0].find("has waited 5 s"), said[0].npos) << said[0];
}

TEST(Watch, NamesTheBusinessOfABusyRankAndItsDeadline) {
  std::vector<std::string> said;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { said.emplace_back(line); });
  with_four(
      [](WatchOfFour& four) {
        four.at(2, 2, 1);
        four.at(3, 1, 1);
        four.busy(3);
        EXPECT_EQ(four.look({1, 2, 3}, 10s), "");
      },
      60s);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find(", busy: saves)"), said[0].npos) << said[0];
  EXPECT_NE(said[0].find("the run ends after 600 s"), said[0].npos) << said[0];
}

TEST(Watch, SaysHowLongABusyRankWasWaitedForInTheEnd) {
  std::vector<std::string> said;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { said.emplace_back(line); });
  with_four([](WatchOfFour& four) {
    four.at(2, 2, 1);
    four.at(3, 1, 1);
    four.busy(3);
    const std::string text = four.look({1, 2, 3}, 45s);
    expect_missing(text, {3});
    EXPECT_NE(text.find(" waited 40"), text.npos) << text;  // ten times the deadline
  });
}

TEST(Watch, ARankThatWaitsInAnotherGroupIsNotBlamedUntilThatGroupHadTheWord) {
  with_four([](WatchOfFour& four) {
    four.at(2, 2, 1);
    four.waits_elsewhere(3);
    EXPECT_EQ(four.look({1, 2, 3}), "");
  });
}

TEST(Watch, ARankThatWaitsInAnotherGroupForEverIsBlamed) {
  with_four([](WatchOfFour& four) {
    four.at(2, 2, 1);
    four.waits_elsewhere(3);
    const std::string text = four.look({1, 2, 3}, 10s);
    expect_missing(text, {3});
    EXPECT_NE(text.find(", waiting in another group for "), text.npos) << text;
  });
}

TEST(Watch, ARankThatWaitsInAnotherGroupIsNotBlamedBesideTheSilentOne) {
  with_four([](WatchOfFour& four) {
    four.waits_elsewhere(2);
    four.at(3, 1, 1);
    expect_missing(four.look({1, 2}), {3});
  });
}

TEST(Watch, ASilentRankIsBlamedThoughItWaitedInAnotherGroup) {
  with_four([](WatchOfFour& four) {
    four.at(2, 2, 1);
    four.waits_elsewhere(3);
    expect_missing(four.look({1, 2}), {3});
  });
}

/// Entries that never end by themselves.
Watch::Entry open_entry(Watch& watch, CollectiveKind kind, int peer) {
  Collective c;
  c.kind = kind;
  c.peer = peer;
  Watch::Entry entry = watch.announce(c);
  entry.work = Work(std::make_shared<Told>());
  return entry;
}

/// What rank 0 of three complains of while it waits for a message from rank 1.
std::string complaint_of_a_receive(const std::function<void(HeartbeatTable&)>& others) {
  std::string text;
  const auto wait_for_a_message = [&](Communicator& comm) {
    if (comm.rank() != 0) {
      return;
    }
    HeartbeatTable& table = *comm.heartbeat_table();
    Watch watch(std::shared_ptr<Communicator>(&comm, [](Communicator*) {}), 4s,
                comm.heartbeat_table());
    watch.watch(open_entry(watch, CollectiveKind::receive, 1));
    watch.watch(open_entry(watch, CollectiveKind::barrier, -1));
    others(table);
    const Time start = clock().now();
    for (auto passed = 0ms; passed <= 6s; passed += 200ms) {
      ++table.cell(1).beats;
      ++table.cell(2).beats;
      watch.look(start + passed);
    }
    text = table.failure().written() ? table.failure().text : "";
  };
  run_ranks(3, wait_for_a_message, {.watched = false});
  return text;
}

TEST(Watch, ARankThatIsToSendAndIsKeptInACollectiveIsNotBlamed) {
  const std::string kept = complaint_of_a_receive([](HeartbeatTable& table) {
    table.cell(1).launched = 1;  // waits in the barrier, to which rank 2 does not come
  });
  EXPECT_NE(kept.find("missing: rank 2 "), kept.npos) << kept;
  EXPECT_EQ(kept.find("rank 1 (host"), kept.npos) << kept;
  const std::string late = complaint_of_a_receive([](HeartbeatTable& table) {
    table.cell(1).launched = table.cell(1).finished = 1;
    table.cell(2).launched = table.cell(2).finished = 1;
  });
  EXPECT_NE(late.find("missing: rank 1 "), late.npos) << late;
}

TEST(Watch, ARankThatLeftInTheMiddleIsBlamedThoughItIsHeard) {
  with_four([](WatchOfFour& four) {
    four.at(2, 2, 1);
    four.at(3, 2, 2);
    four.leaves(2);
    expect_missing(four.look({1, 2, 3}), {2});
  });
}

TEST(Watch, ACallThatHearsOfNoFailureEndsTheWorld) {
  const auto fail_in_a_call = [](Communicator& comm) {
    const std::shared_ptr<Communicator> part = comm.split(0, 0, "part");
    Watch watch(part, 10s, comm.heartbeat_table());
    Watch::Entry call = watch.announce("split");
    call.work = Work(std::make_shared<Told>());
    watch.watch(std::move(call));
    part->abort(std::make_exception_ptr(CommError("rank 0 gave up")));
    const FailureRecord& world = comm.heartbeat_table()->failure();
    const Time start = clock().now();
    for (auto passed = 0ms; passed < 1800ms; passed += 200ms) {
      watch.look(start + passed);
    }
    EXPECT_FALSE(world.written());
    for (auto passed = 1800ms; passed < 3s; passed += 200ms) {
      watch.look(start + passed);
    }
    ASSERT_TRUE(world.written());
    EXPECT_EQ(std::string(world.text), "rank 0 gave up");
  };
  run_ranks(1, fail_in_a_call, {.watched = false});
}

}  // namespace
}  // namespace tessera::dist
