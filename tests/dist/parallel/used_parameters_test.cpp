// What the ranks tell each other of parameters when a backward ends.
#include <tessera/dist/parallel/used_parameters.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/pass_scope.h>
#include <tessera/dist/comm/loopback.h>

#include "dist/parallel/six_parameters.h"

namespace tessera::dist {
namespace {

using testing::ElementsAre;

constexpr int kFour = 4;

/// What this rank's backward brought, which differs from rank to rank.
void bring_gradients(SixReduced& six, int rank) {
  const Tensor ids = from_values<std::int64_t>({1, 3, 1}, {3});
  six.parameters[0].reached = rank == 2;
  six.parameters[1].sums.add(ones({20}));
  if (rank == 3) {
    six.parameters[2].sums.add(ones({20}));
    six.parameters[2].early = true;
  }
  if (rank == 1) {
    six.parameters[5].sums.add(SparseGradient{.ids = ids, .values = ones({3, 20})});
  }
  six.parameters[3].reached = true;
  six.parameters[3].trained = false;
}

TEST(UsedParameters, are_what_each_rank_told) {
  run_ranks(kFour, [](Communicator& comm) {
    const PassScope pass({.grain = kFour, .first = comm.rank(), .samples = 1});
    SixReduced six(kFour, comm.rank());
    bring_gradients(six, comm.rank());
    LossCountTable counts(comm, kFour);
    UsedParameters table(comm, six.parameters, counts);
    table.work().wait();
    static_cast<void>(table.take_counts(counts));
    using Table = UsedParameters;
    EXPECT_THAT(table.by_rank(0, Table::used), ElementsAre(0, 0, 1, 0));
    EXPECT_THAT(table.by_rank(0, Table::dense), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(table.by_rank(1, Table::used), ElementsAre(1, 1, 1, 1));
    EXPECT_EQ(table.count(1, Table::dense), kFour);
    EXPECT_EQ(table.count(1, Table::early), 0);
    EXPECT_THAT(table.by_rank(2, Table::early), ElementsAre(0, 0, 0, 1));
    EXPECT_TRUE(table.any(2, Table::dense));
    EXPECT_FALSE(table.any(3, Table::used));  // frozen
    EXPECT_FALSE(table.any(4, Table::used));
    EXPECT_THAT(table.by_rank(5, Table::rows), ElementsAre(0, 3, 0, 0));
    EXPECT_THAT(table.by_rank(5, Table::used), ElementsAre(0, 1, 0, 0));
    EXPECT_FALSE(table.any(5, Table::dense));
  });
}

}  // namespace
}  // namespace tessera::dist
