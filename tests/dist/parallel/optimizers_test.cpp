// Every optimizer behind data parallel: the bits of one process on any number of ranks.
#include <gtest/gtest.h>

#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_optimizers.h"

namespace tessera::dist {
namespace {

TEST(Optimizers, have_the_bits_of_one_process) {
  for (const toy::MakeOptimizers& make : toy::every_kind()) {
    const toy::Weights expected = toy::train_alone(make);
    for (const int ranks : {1, 2, 3, 4}) {
      std::vector<toy::Weights> weights(static_cast<std::size_t>(ranks));
      run_ranks(ranks, [&](Communicator& comm) {
        set_seed(3);
        const auto model = nn::make<toy::Model>();
        const auto reducer =
            data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = toy::kGrain});
        const auto blocks = ReductionTree::over_grain(toy::kGrain, ranks).of_rank(comm.rank());
        weights[static_cast<std::size_t>(comm.rank())] = toy::train(model, blocks, make);
      });
      for (const toy::Weights& of_rank : weights) {
        EXPECT_EQ(of_rank, expected) << ranks << " ranks";
      }
    }
  }
}

}  // namespace
}  // namespace tessera::dist
