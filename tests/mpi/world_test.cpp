// The world of processes and its groups: who is where, who differs, who gives up, who leaves.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>

#include "support/sweep.h"
#include "world.h"

namespace tessera::dist {
namespace {

TEST(MpiWorld, KnowsItsPlace) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const World& world = test_world();
  EXPECT_EQ(world.rank(), rank);
  EXPECT_EQ(world.size(), size);
  for (int peer = 0; peer < size; ++peer) {
    const bool same_host = world.communicator()->host(peer) == world.host();
    EXPECT_EQ(world.communicator()->transport(peer), peer == rank ? "self"
                                                     : same_host  ? "shm"
                                                                  : "tcp");
  }
}

TEST(MpiWorld, DisagreementIsNamedInAGroupOfItsOwn) {
  Communicator& world = *test_world().communicator();
  const auto group = world.split(0, world.rank(), "quarrel");
  std::vector<float> values(world.rank() == 1 ? 7 : 5);
  try {
    all_reduce<float>(*group, values, ReduceOp::sum, "weight").wait();
    EXPECT_EQ(world.size(), 1) << "the difference went unnoticed";
  } catch (const Desync& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("rank 1 launched all_reduce (sum) of 7 f32 'weight'"), text.npos) << text;
  }
  barrier(world).wait();  // the world is unharmed
}

TEST(MpiWorld, SplitWaitsForNobodyWhoGaveUp) {
  Communicator& world = *test_world().communicator();
  if (world.size() == 1) {
    return;
  }
  const auto group = world.split(0, world.rank(), "given up");
  if (world.rank() == 0) {
    group->abort(std::make_exception_ptr(CommError("rank 0 gave up")));
  } else {
    EXPECT_THROW(static_cast<void>(group->split(0, world.rank(), "part of it")), CommError);
  }
  barrier(world).wait();  // the world is unharmed
}

TEST(MpiWorld, WhoHasLetGoOfAGroupIsMissedOnAllHostsAtOnce) {
  Communicator& world = *test_world().communicator();
  for (const int leaver : {0, world.size() - 1}) {
    auto group = world.split(0, world.rank(), "left");
    barrier(*group).wait();
    if (world.rank() == leaver || world.size() == 1) {
      group.reset();
    } else {
      const auto start = std::chrono::steady_clock::now();
      try {
        barrier(*group, "in vain").wait();
        ADD_FAILURE() << "the barrier cannot have ended";
      } catch (const PeerLost& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("missing: rank " + std::to_string(leaver)), text.npos) << text;
        EXPECT_NE(text.find("has let go of the group"), text.npos) << text;
      }
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    }
    barrier(world).wait();
  }
}

/// Where all ranks share memory, who comes out of the barrier in a split knows that all do,
/// whenever one gives up.
TEST(MpiWorld, AGroupThatIsGivenUpDuringASplitOrAnAllocationKeepsNobodyWaiting) {
  Communicator& world = *test_world().communicator();
  for (int peer = 0; peer < world.size(); ++peer) {
    if (world.host(peer) != world.host(0)) {
      return;  // the world ends there, since MPI's own calls hear of no failure
    }
  }
  for (int round = 0; round < 40; ++round) {
    const auto group = world.split(0, world.rank(), "given up");
    barrier(world).wait();
    std::thread aborts([&] {
      if (world.rank() == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(7 * round));
        group->abort(std::make_exception_ptr(CommError("rank 0 gave up")));
      }
    });
    try {
      round % 2 == 0 ? static_cast<void>(group->split(0, world.rank(), "part"))
                     : static_cast<void>(group->allocate(4096));
    } catch (const CommError& error) {
      EXPECT_STREQ(error.what(), "rank 0 gave up");
    }
    aborts.join();
    barrier(world, "round").wait();
  }
}

}  // namespace
}  // namespace tessera::dist
