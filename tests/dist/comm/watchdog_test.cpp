// Hangs become errors that name who is missing; decorators pass the rest on.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/busy_scope.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/control_channel.h>
#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/fake.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/recorder.h>
#include <tessera/dist/comm/watchdog.h>

#include "support/error_of.h"

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

/// Runs `body` on ranks whose communicators are watched with a short deadline.
void run_watched(int ranks, std::chrono::milliseconds deadline,
                 const std::function<void(Communicator&)>& body) {
  run_ranks(ranks, body, {.deadline = deadline});
}

/// Until some rank has failed the group.
void wait_for_failure(Communicator& group) {
  while (!group.heartbeat_table()->failure().written()) {
    std::this_thread::sleep_for(5ms);
  }
}

TEST(Watchdog, NamesTheRankThatDidNotArriveAndWhereItIs) {
  run_watched(3, 300ms, [](Communicator& comm) {
    std::vector<float> values(4);
    all_reduce<float>(comm, values, ReduceOp::sum, "first").wait();
    if (comm.rank() == 2) {
      wait_for_failure(comm);  // computes for ever
      return;
    }
    try {
      all_reduce<float>(comm, values, ReduceOp::sum, "bucket 7").wait();
      ADD_FAILURE() << "the collective cannot have ended";
    } catch (const Timeout& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("group 'world'"), text.npos) << text;
      EXPECT_NE(text.find("all_reduce 2 'bucket 7'"), text.npos) << text;
      EXPECT_NE(text.find("missing: rank 2 (host "), text.npos) << text;
      EXPECT_NE(text.find("its last is 1, all_reduce 'first'"), text.npos) << text;
      EXPECT_EQ(text.find("rank 1 (host"), text.npos) << text;
    }
  });
}

/// A backend that knows nothing of its ranks, as a library of collectives does.
class WithoutHeartbeats final : public CommDecorator {
 public:
  using CommDecorator::CommDecorator;
  std::shared_ptr<HeartbeatTable> heartbeat_table() override { return nullptr; }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override {
    return std::make_shared<WithoutHeartbeats>(std::move(part));
  }
};

TEST(Watchdog, RefusesABackendWithoutHeartbeats) {
  const auto mute = std::make_shared<WithoutHeartbeats>(make_loopback(1).front());
  EXPECT_EQ(
      testing_support::error_of<Unsupported>([&] { return with_watchdog(mute); }),
      "watchdog: the backend of group 'world' keeps no heartbeats; expected one that does, or "
      "with_control_channel over a group of the same ranks that does");
}

TEST(Watchdog, AndRecorderServeABackendWithoutHeartbeatsOverAControlChannel) {
  const auto data = make_loopback(2);
  run_ranks(2, [&](Communicator& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const auto watched =
        with_watchdog(with_control_channel(std::make_shared<WithoutHeartbeats>(data[rank]),
                                           world.split(0, world.rank(), "control")),
                      {.deadline = 300ms});
    const auto comm = std::make_shared<Recorder>(watched, 8);
    std::vector<float> values(5000, 1);
    all_reduce<float>(*comm, values, ReduceOp::sum, "first").wait();
    EXPECT_EQ(values[4999], 2);
    const auto part = comm->split(0, comm->rank(), "part");
    if (rank == 1) {
      wait_for_failure(*part);
      return;
    }
    try {
      all_reduce<float>(*part, values, ReduceOp::sum, "bucket 7").wait();
      ADD_FAILURE() << "the collective cannot have ended";
    } catch (const Timeout& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("'bucket 7'"), text.npos) << text;
      EXPECT_NE(text.find("missing: rank 1 (host "), text.npos) << text;
    }
    EXPECT_NE(comm->report().find("'first'"), std::string::npos) << comm->report();
  });
}

TEST(Watchdog, NamesThePartnerOfAReceive) {
  run_watched(2, 200ms, [](Communicator& comm) {
    if (comm.rank() == 1) {
      wait_for_failure(comm);
      return;
    }
    std::vector<float> values(1);
    try {
      receive<float>(comm, values, 1, "activations").wait();
      ADD_FAILURE() << "nothing was sent";
    } catch (const Timeout& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("receive 'activations'; missing: rank 1"), text.npos) << text;
    }
  });
}

TEST(Watchdog, ABusyRankIsWaitedFor) {
  run_watched(2, 200ms, [](Communicator& comm) {
    barrier(comm).wait();
    if (comm.rank() == 1) {
      const BusyScope busy("saves step 5");
      std::this_thread::sleep_for(900ms);
      barrier(comm, "saved").wait();
    } else {
      EXPECT_NO_THROW(barrier(comm, "saved").wait());
    }
  });
}

TEST(Watchdog, TimeWithoutCollectivesDoesNotCount) {
  run_watched(2, 800ms, [](Communicator& comm) {
    barrier(comm, "before").wait();
    std::this_thread::sleep_for(comm.rank() == 0 ? 1200ms : 1350ms);  // computes
    EXPECT_NO_THROW(barrier(comm, "after").wait());
  });
}

TEST(Watchdog, WatchesGroupsSplitOff) {
  run_watched(2, 200ms, [](Communicator& comm) {
    const auto group = comm.split(0, comm.rank(), "pair");
    if (comm.rank() == 1) {
      wait_for_failure(*group);
      return;
    }
    EXPECT_THROW(barrier(*group).wait(), Timeout);
    EXPECT_NO_THROW((void)barrier(comm));  // the parent is unharmed
  });
}

/// Rank 2 waits in a pair for rank 3, which waits in the world for rank 1, which is nowhere.
TEST(Watchdog, ARankHeldUpInAnotherGroupIsNotBlamed) {
  run_watched(4, 800ms, [](Communicator& comm) {
    const auto pair = comm.split(comm.rank() / 2, comm.rank(), "pair");
    if (comm.rank() == 1) {
      wait_for_failure(comm);
      return;
    }
    try {
      if (comm.rank() != 2) {
        std::this_thread::sleep_for(400ms);  // so that the pair waits for longer than the world
        barrier(comm).wait();
      }
      barrier(*pair).wait();
      ADD_FAILURE() << "rank 1 did not come";
    } catch (const Timeout& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("missing: rank 1 (host "), text.npos) << text;
    }
  });
}

TEST(Watchdog, NamesRanksOfAGroupByTheirNumberInTheWorld) {
  run_watched(4, 300ms, [](Communicator& comm) {
    const auto odd_or_even = comm.split(comm.rank() % 2, comm.rank(), "half");
    const auto pair = odd_or_even->split(0, -comm.rank(), "turned round");
    if (comm.rank() == 3) {
      wait_for_failure(*pair);
    }
    if (comm.rank() != 1) {
      return;
    }
    try {
      barrier(*pair).wait();
      ADD_FAILURE() << "rank 3 did not come";
    } catch (const Timeout& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("group 'turned round'"), text.npos) << text;
      EXPECT_NE(text.find("missing: rank 3 (host "), text.npos) << text;
    }
  });
}

/// What rank 0 of two is told that waits, in the world or a group split off, for the other one,
/// which has come to the end of the program.
std::string told_at_the_end(const std::function<void(Communicator&, Communicator&)>& wait,
                            std::chrono::milliseconds deadline) {
  std::string text;
  const auto body = [&](Communicator& own) {
    const auto watched =
        with_watchdog(std::shared_ptr<Communicator>(&own, [](Communicator*) {}), {deadline});
    Communicator& comm = *watched;
    const auto group = comm.split(0, comm.rank(), "pair");
    if (comm.rank() == 1) {
      comm.heartbeat_table()->own().ended = 1;
      while (!comm.heartbeat_table()->failure().written() &&
             !group->heartbeat_table()->failure().written()) {
        std::this_thread::sleep_for(5ms);
      }
      return;
    }
    try {
      wait(comm, *group);
      ADD_FAILURE() << "nobody came";
    } catch (const Desync& error) {
      text = error.what();
    }
  };
  run_ranks(2, body, {.watched = false});
  return text;
}

TEST(Watchdog, WhateverWaitsForARankAtTheEndOfTheProgramFailsAndNamesIt) {
  std::vector<float> many(100'000);  // more than is sent without waiting
  const std::string early = "came to the end of the program early; rank 0 waits in vain in ";
  const auto expect = [&](const std::string& where, const auto& wait) {
    for (const auto deadline : {4s, 0s}) {  // the latter: none
      const std::string text = told_at_the_end(wait, deadline);
      EXPECT_NE(text.find(early + where), text.npos) << text;
      EXPECT_TRUE(text.starts_with("desync: rank 1 of group '")) << text;
    }
  };
  using Comm = Communicator;
  expect("barrier 2 'all'", [](Comm& world, Comm&) { barrier(world, "all").wait(); });
  expect("barrier 1 'two'", [](Comm&, Comm& group) { barrier(group, "two").wait(); });
  expect("barrier 1 'allocate'", [](Comm&, Comm& group) { static_cast<void>(group.allocate(8)); });
  expect("receive 'a'", [&](Comm& c, Comm&) { receive<float>(c, many, 1, "a").wait(); });
  expect("receive 'b'", [&](Comm&, Comm& c) { receive<float>(c, many, 1, "b").wait(); });
  expect("send 'c'", [&](Comm&, Comm& c) { send<float>(c, many, 1, "c").wait(); });
}

TEST(Watchdog, WhatALaunchRefusedCountsForNothing) {
  const auto start = std::chrono::steady_clock::now();
  const auto body = [](Communicator& comm) {
    std::vector<float> values(6000);
    if (comm.rank() == 1) {
      EXPECT_THROW(comm.launch({.kind = CollectiveKind::all_reduce, .count = 6}), InvalidArgument);
    }
    all_reduce<float>(comm, values).wait();
    if (comm.rank() == 0) {
      all_reduce<float>(comm, values).wait();  // rank 1 has ended
    }
  };
  const std::string text = testing_support::error_of<CommError>([&] { run_watched(2, 20s, body); });
  EXPECT_NE(text.find("rank 1"), text.npos) << text;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s) << text;
}

TEST(Watchdog, WhatARankSentBeforeItsEndArrives) {
  run_watched(2, 4s, [](Communicator& comm) {
    std::vector<float> values(8, static_cast<float>(comm.rank()));
    if (comm.rank() == 1) {
      send<float>(comm, values, 0).wait();
      comm.heartbeat_table()->own().ended = 1;
    } else {
      std::this_thread::sleep_for(500ms);
      EXPECT_NO_THROW(receive<float>(comm, values, 1).wait());
      EXPECT_EQ(values[7], 1.0F);
    }
  });
}

TEST(Watchdog, WatchesSplitsAndAllocations) {
  run_watched(2, 300ms, [](Communicator& comm) {
    barrier(comm, "first").wait();
    if (comm.rank() == 1) {
      wait_for_failure(comm);
      return;
    }
    try {
      static_cast<void>(comm.allocate(64));
      ADD_FAILURE() << "one rank cannot allocate alone";
    } catch (const Timeout& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("2 'allocate'; missing: rank 1"), text.npos) << text;
    }
  });
}

TEST(Recorder, KeepsTheLastCollectives) {
  Recorder comm(make_loopback(1).front(), 2);
  std::vector<float> values(3);
  const Collective meeting;
  comm.launch(meeting).wait();
  all_reduce<float>(comm, values, ReduceOp::max, "norm").wait();
  broadcast<float>(comm, values, 0, "weights").wait();
  ASSERT_EQ(comm.entries().size(), 2U);
  EXPECT_EQ(comm.entries()[0].number, 2U);
  const std::string report = comm.report();
  EXPECT_NE(report.find("2 world: all_reduce (max) of 3 f32 'norm': "), report.npos) << report;
  EXPECT_NE(report.find("3 world: broadcast of 3 f32 from rank 0 'weights': "), report.npos)
      << report;
}

TEST(Recorder, ListsWhatGroupsSplitFromItDo) {
  run_ranks(2, [](Communicator& comm) {
    Recorder recorder(std::shared_ptr<Communicator>(&comm, [](Communicator*) {}));
    const auto alone = recorder.split(comm.rank(), 0, "alone");
    barrier(*alone).wait();
    barrier(recorder).wait();
    const std::string report = recorder.report();
    EXPECT_NE(report.find("1 alone: barrier: "), report.npos) << report;
    EXPECT_NE(report.find("2 " + comm.name() + ": barrier: "), report.npos) << report;
  });
}

TEST(Fake, IsAnyRankOfAnyWorldAndMovesNothing) {
  const auto recorder = std::make_shared<Recorder>(make_fake(5, 1000));
  EXPECT_EQ(recorder->rank(), 5);
  EXPECT_EQ(recorder->size(), 1000);
  std::vector<float> values{1.0F, 2.0F};
  const Work work = all_reduce<float>(*recorder, values);
  EXPECT_TRUE(work.done());
  EXPECT_EQ(values, (std::vector<float>{1.0F, 2.0F}));
  EXPECT_EQ(recorder->entries().size(), 1U);
  EXPECT_THROW((void)broadcast<float>(*recorder, values, 1000), InvalidArgument);
}

TEST(Fake, EchoesOfUnevenPartsAsMuchAsBothHave) {
  const auto comm = make_fake(1, 3);
  const std::vector<float> mine{1, 2};
  std::vector<float> all(6, -1);
  all_gather<float>(*comm, mine, std::span(all), std::vector<std::size_t>{3, 2, 1}).wait();
  EXPECT_EQ(all, (std::vector<float>{1, 2, -1, 1, 2, 1}));
}

}  // namespace
}  // namespace tessera::dist
