// Ranks on unlike machines, and runs that move to one.
#include <gtest/gtest.h>

#include <algorithm>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/common_numerics.h>

namespace tessera::dist {
namespace {

// Of every thread that is a rank: rank 1's machine has no fast units.
thread_local std::string units;

std::vector<std::string> options() {
  return Context::current().rank == 1 ? std::vector<std::string>{"slow", "plain"}
                                      : std::vector<std::string>{"slow", "plain", "fast"};
}

const Setting<std::string> units_setting{"TESSERA_TEST_UNITS", "", "The units of a test"};

/// Runs `body` on three ranks, each with the best units that it has.
template <class Body>
void on_unlike_machines(const Body& body) {
  const NumericsFact fact{"units",
                          [] { return units; },
                          {.options = options,
                           .choose = [](const std::string& name) { units = name; },
                           .setting = &units_setting}};
  run_ranks(3, [&](Communicator& comm) {
    Context::current().rank = comm.rank();
    units = options().back();
    body(comm);
  });
}

TEST(CommonNumerics, RanksUseTheBestThatAllHave) {
  on_unlike_machines([](Communicator& comm) {
    choose_common_numerics(comm);
    EXPECT_EQ(units, "plain") << "rank " << comm.rank();
  });
}

TEST(CommonNumerics, ARunGoesOnWithWhatItBeganWith) {
  on_unlike_machines([](Communicator& comm) {
    const std::function<void()> go_on = numerics_of_run(comm, "units", "slow");
    ASSERT_TRUE(go_on);
    EXPECT_EQ(units, options().back());  // until all else is known to fit
    go_on();
    EXPECT_EQ(units, "slow");
    EXPECT_FALSE(numerics_of_run(comm, "no such fact", "slow"));
  });
}

TEST(CommonNumerics, AMachineThatLacksThemIsNamedWithTheWayOut) {
  on_unlike_machines([](Communicator& comm) {
    try {
      static_cast<void>(numerics_of_run(comm, "units", "fast"));
      ADD_FAILURE() << "rank 1 has no fast units";
    } catch (const Unsupported& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("began with fast, which the CPU of rank 1 lacks"), text.npos) << text;
      EXPECT_NE(text.find("TESSERA_TEST_UNITS="), text.npos) << text;
    }
    EXPECT_EQ(units, options().back());
  });
}

TEST(CommonNumerics, WhatAPersonChoseStays) {
  setenv("TESSERA_TEST_UNITS", "plain", 1);
  on_unlike_machines([](Communicator& comm) {
    EXPECT_FALSE(numerics_of_run(comm, "units", "slow"));
    EXPECT_EQ(units, options().back());
  });
  unsetenv("TESSERA_TEST_UNITS");
}

}  // namespace
}  // namespace tessera::dist
