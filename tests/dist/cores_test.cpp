// A host's cores and what a person is told about them.
#include <gtest/gtest.h>

#include <tessera/core/device/affinity.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/cores.h>

namespace tessera::dist {
namespace {

TEST(Cores, RanksWithTheSameCoresDivideThem) {
  run_ranks(3, [](Communicator& comm) {
    const CoreShare share = share_cores(comm);
    EXPECT_EQ(share.ranks, 3);
    EXPECT_EQ(share.before, comm.rank());
    EXPECT_EQ(share.cores, static_cast<int>(process_cores().size()));
    EXPECT_EQ(share.threads(), std::max(1, share.cores / 3));
  });
}

TEST(Cores, ARankBoundToFewerThanItsThreadsIsToldHowToFreeThem) {
  const CoreShare bound{.cores = 1, .ranks = 1, .before = 0, .used = 1, .host = 8};
  const std::string advice = binding_advice(bound, 4, true);
  EXPECT_NE(advice.find("4 threads and may run on 1 core of 8"), advice.npos) << advice;
  EXPECT_NE(advice.find("--bind-to none"), advice.npos) << advice;
}

TEST(Cores, CoresThatNoRankUsesAreSaid) {
  const CoreShare idle{.cores = 1, .ranks = 1, .before = 0, .used = 2, .host = 8};
  EXPECT_NE(binding_advice(idle, 1, true), "");
  const CoreShare all_used{.cores = 1, .ranks = 1, .before = 0, .used = 8, .host = 8};
  EXPECT_EQ(binding_advice(all_used, 1, true), "");
}

TEST(Cores, WithoutALauncherOnlyTooManyThreadsAreSaid) {
  const CoreShare few{.cores = 2, .ranks = 1, .before = 0, .used = 2, .host = 8};
  EXPECT_EQ(binding_advice(few, 2, false), "");
  const std::string advice = binding_advice(few, 3, false);
  EXPECT_NE(advice.find("3 threads and may run on 2 cores"), advice.npos) << advice;
  EXPECT_EQ(advice.find("--bind-to"), advice.npos) << advice;
}

}  // namespace
}  // namespace tessera::dist
