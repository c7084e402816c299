#include <gtest/gtest.h>

#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using toy::Gradients;

/// How often backward runs before anybody takes the gradients.
struct Repeats {
  int in_a_pass = 1;
  int steps = 1;
};

void run_repeats(const nn::Ptr<toy::Model>& model, const std::vector<TreeLeaf>& blocks,
                 std::int64_t at_once, Repeats repeats) {
  for (int i = 0; i < repeats.steps; ++i) {
    ++Context::current().step;
    toy::run_passes(model, blocks, at_once, repeats.in_a_pass);
  }
}

Gradients repeats_alone(std::int64_t at_once, Repeats repeats) {
  set_seed(3);
  const auto model = nn::make<toy::Model>();
  run_repeats(model, toy::kAll, at_once, repeats);
  return toy::gradients_of(*model);
}

Gradients repeats_on_ranks(int ranks, std::int64_t at_once, Repeats repeats) {
  Gradients of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    set_seed(3);
    const auto model = nn::make<toy::Model>();
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto reducer = data_parallel(
        *model, borrowed, {.grain = kGrain, .buckets = {.first_bytes = 32, .bytes = 64}});
    run_repeats(model, ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()), at_once,
                repeats);
    if (comm.rank() == ranks - 1) {
      of_last_rank = toy::gradients_of(*model);
    }
  });
  return of_last_rank;
}

void expect_same_gradients(Repeats repeats) {
  const Gradients expected = repeats_alone(kGrain, repeats);
  EXPECT_NE(expected, repeats_alone(kGrain, {}));
  for (const std::int64_t at_once : {1, 2, 8}) {
    EXPECT_EQ(repeats_alone(at_once, repeats), expected) << at_once << " at once";
    for (const int ranks : {1, 2, 3, 5, 8}) {
      EXPECT_EQ(repeats_on_ranks(ranks, at_once, repeats), expected)
          << ranks << " ranks, " << at_once << " at once";
    }
  }
}

TEST(RepeatedBackward, in_each_pass_adds_its_own_reduced_sum) {
  expect_same_gradients({.in_a_pass = 2});
  expect_same_gradients({.in_a_pass = 3});
}

TEST(RepeatedBackward, in_a_later_step_adds_to_gradients_that_nobody_took) {
  expect_same_gradients({.steps = 2});
  expect_same_gradients({.in_a_pass = 2, .steps = 2});
}

}  // namespace
}  // namespace tessera::dist
