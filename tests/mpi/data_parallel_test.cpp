// Data parallel training between processes: the bits of one process.
#include <gtest/gtest.h>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/sum.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/loss/weighted_mean.h>

#include "support/toy_optimizers.h"
#include "world.h"

namespace tessera::dist {
namespace {

TEST(DataParallelOverMpi, gives_the_bits_of_one_process) {
  const World& world = test_world();
  for (const std::int64_t at_once : {kGrain, std::int64_t{1}}) {
    const toy::Gradients expected = toy::alone(kGrain);
    set_seed(3);
    const auto model = nn::make<toy::Model>();
    const auto reducer =
        data_parallel(*model, world.communicator(),
                      {.grain = kGrain, .buckets = {.first_bytes = 32, .bytes = 64}});
    const auto blocks = ReductionTree::over_grain(kGrain, world.size()).of_rank(world.rank());
    toy::run_passes(model, blocks, at_once);
    EXPECT_EQ(toy::gradients_of(*model), expected) << at_once << " at once";
  }
}

/// A loss that is a mean over what counts: ids of 0 do not, a fifth of them or so.
struct Counted : toy::Model {
  Tensor forward(const Tensor& ids) const {
    const Tensor x = embedding(table, ids) * twice.value() + embedding(wide, ids);
    return nn::weighted_mean(sum(x * x * once.value(), {-1}), ne(ids, 0));
  }
};

toy::Gradients counted_alone() {
  set_seed(3);
  const auto model = nn::make<Counted>();
  toy::run_passes(model, toy::kAll, kGrain);
  return toy::gradients_of(*model);
}

TEST(DataParallelOverMpi, means_over_what_counts_have_the_bits_of_one_process) {
  const World& world = test_world();
  const toy::Gradients expected = counted_alone();
  for (const std::int64_t at_once : {kGrain, std::int64_t{1}}) {
    set_seed(3);
    const auto model = nn::make<Counted>();
    const auto reducer = data_parallel(*model, world.communicator(), {.grain = kGrain});
    const auto blocks = ReductionTree::over_grain(kGrain, world.size()).of_rank(world.rank());
    toy::run_passes(model, blocks, at_once);
    EXPECT_EQ(toy::gradients_of(*model), expected) << at_once << " at once";
  }
}

TEST(DataParallelOverMpi, every_optimizer_has_the_bits_of_one_process) {
  const World& world = test_world();
  const auto blocks = ReductionTree::over_grain(kGrain, world.size()).of_rank(world.rank());
  for (const toy::MakeOptimizers& make : toy::every_kind()) {
    const toy::Weights expected = toy::train_alone(make);
    set_seed(3);
    const auto model = nn::make<toy::Model>();
    const auto reducer = data_parallel(*model, world.communicator(), {.grain = kGrain});
    EXPECT_EQ(toy::train(model, blocks, make), expected);
  }
}

}  // namespace
}  // namespace tessera::dist
