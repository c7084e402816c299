// Ranks that launch different collectives learn who differs, and in what.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>

#include "support/error_of.h"

namespace tessera::dist {
namespace {

using testing_support::error_of;

TEST(Disagreement, names_the_ranks_and_the_difference) {
  run_ranks(3, [](Communicator& comm) {
    std::vector<float> values(comm.rank() == 1 ? 7 : 5);
    const std::string text =
        error_of<Desync>([&] { all_reduce<float>(comm, values, ReduceOp::sum, "weight").wait(); });
    EXPECT_NE(text.find("rank 1 launched all_reduce (sum) of 7 f32 'weight'"), text.npos) << text;
    EXPECT_NE(text.find("of 5 f32 'weight' as rank 0 did"), text.npos) << text;
  });
}

TEST(Disagreement, in_a_group_names_ranks_as_the_world_counts_them) {
  run_ranks(4, [](Communicator& comm) {
    const auto half = comm.split(comm.rank() / 2, comm.rank(), "half");
    std::vector<float> values(comm.rank() == 3 ? 7 : 5);
    if (comm.rank() < 2) {
      return;
    }
    const std::string text = error_of<Desync>([&] { broadcast<float>(*half, values, 1).wait(); });
    EXPECT_NE(text.find("rank 3 launched broadcast of 7 f32 from rank 3"), text.npos) << text;
    EXPECT_NE(text.find("broadcast of 5 f32 from rank 3 as rank 2 did"), text.npos) << text;
  });
}

TEST(Disagreement, about_a_message_names_both_ranks_as_the_world_counts_them) {
  run_ranks(4, [](Communicator& comm) {
    const auto half = comm.split(comm.rank() / 2, comm.rank(), "half");
    std::vector<float> values(comm.rank() == 2 ? 7 : 5);
    if (comm.rank() == 2) {
      send<float>(*half, values, 1, "activations").wait();
    }
    if (comm.rank() != 3) {
      return;
    }
    EXPECT_EQ(error_of<Desync>([&] { receive<float>(*half, values, 0, "activations").wait(); }),
              "desync: in group 'half' rank 3 receives 5 f32 'activations' from rank 2; got send "
              "of 7 f32 'activations'");
  });
}

TEST(Disagreement, MessagesOfOtherLabelsAreNoPair) {
  const auto cross = [](Communicator& comm) {
    std::vector<float> a(2, 1);
    std::vector<float> b(2, 2);
    if (comm.rank() == 0) {
      const Work first = send<float>(comm, a, 1, "a");
      const Work second = send<float>(comm, b, 1, "b");
      first.wait();
      second.wait();
    } else {
      receive<float>(comm, b, 0, "b").wait();
    }
  };
  EXPECT_EQ(
      error_of<Desync>([&] { run_ranks(2, cross); }),
      "desync: in group 'world' rank 1 receives 2 f32 'b' from rank 0; got send of 2 f32 'a'");
}

}  // namespace
}  // namespace tessera::dist
