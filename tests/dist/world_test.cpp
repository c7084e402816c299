// How a process finds its world, alone and under launchers that it cannot serve.
#include <gtest/gtest.h>

#include <cstdlib>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/world.h>

#include "support/error_of.h"

namespace tessera::dist {
namespace {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(World, AloneIsRankZeroOfOne) {
  const World world = World::start();
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  EXPECT_EQ(world.local_rank(), 0);
  EXPECT_EQ(world.local_size(), 1);
  EXPECT_FALSE(world.host().empty());
  EXPECT_EQ(Context::current().world_size, 1);
  EXPECT_EQ(Context::current().log_prefix, "");
  std::vector<float> values{3.0F};
  all_reduce<float>(*world.communicator(), values).wait();
  EXPECT_EQ(values[0], 3.0F);
}

class Launched : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Launched,
                         testing::Values("PMI_SIZE", "WORLD_SIZE", "SLURM_NTASKS",
                                         "SLURM_STEP_NUM_TASKS"));

TEST_P(Launched, MoreRanksThanAreReachedIsAnErrorThatNamesBothAndTheCommand) {
  const Variable variable(GetParam(), "4");
  try {
    (void)World::start();
    FAIL() << "four worlds of one";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("announces 4 ranks"), text.npos) << text;
    EXPECT_NE(text.find("but 1 was"), text.npos) << text;
    EXPECT_NE(text.find("mpirun -n 4"), text.npos) << text;
  }
}

TEST_P(Launched, OneRankIsFine) {
  const Variable variable(GetParam(), "1");
  EXPECT_EQ(World::start().size(), 1);
}

TEST(World, UnknownBackendsAreRefused) {
  const std::string text =
      testing_support::error_of<Unsupported>([] { return World::start({.backend = "pigeons"}); });
  EXPECT_TRUE(text.starts_with(
      "world: this build has no such backend; got pigeons, expected auto or loopback"))
      << text;
}

TEST(World, RunTurnsExceptionsIntoExitCodes) {
  const World world = World::start();
  EXPECT_EQ(world.run([] {}), 0);
  EXPECT_EQ(World::start().run([] { fail<InvalidArgument>("no such option"); }), 2);
  EXPECT_EQ(World::start().run([] { fail<InternalError>("a bug"); }), 1);
}

TEST(WorldDeathTest, ARankThatFailsPrintsTheCollectivesThatItRecorded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fail_after_a_sum = [] {
    setenv("TESSERA_COMM_RECORD", "8", 1);
    const World world = World::start();
    std::exit(world.run([&] {
      std::vector<float> values(3);
      all_reduce<float>(*world.communicator(), values, ReduceOp::sum, "sizes").wait();
      fail<InternalError>("a bug");
    }));
  };
  EXPECT_EXIT(fail_after_a_sum(), testing::ExitedWithCode(1),
              "a bug\n.*the last collectives of this rank:\n(.*\n)*.*all_reduce.*'sizes': ");
}

}  // namespace
}  // namespace tessera::dist
