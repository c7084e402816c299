#include <gtest/gtest.h>

#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/layers/lazy.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using toy::alone;
using toy::Gradients;

Gradients gradients_on_ranks(int ranks, std::int64_t at_once) {
  Gradients of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    set_seed(3);
    const auto model = nn::make<toy::Model>();
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto reducer = data_parallel(
        *model, borrowed, {.grain = kGrain, .buckets = {.first_bytes = 32, .bytes = 64}});
    toy::run_passes(model, ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()), at_once);
    if (comm.rank() == ranks - 1) {
      of_last_rank = toy::gradients_of(*model);
    }
  });
  return of_last_rank;
}

TEST(DataParallel, gives_the_bits_of_one_process_on_any_number_of_ranks) {
  const Gradients expected = alone(kGrain);
  ASSERT_FALSE(expected[0].empty());
  ASSERT_FALSE(expected[1].empty());
  EXPECT_TRUE(expected[5].empty());
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    EXPECT_EQ(gradients_on_ranks(ranks, kGrain), expected) << ranks << " ranks";
  }
}

TEST(DataParallel, gives_the_same_bits_however_many_microbatches_share_a_pass) {
  const Gradients expected = alone(kGrain);
  for (const std::int64_t at_once : {1, 2, 4}) {
    EXPECT_EQ(alone(at_once), expected) << at_once << " at once";
    EXPECT_EQ(gradients_on_ranks(2, at_once), expected) << "2 ranks, " << at_once << " at once";
    EXPECT_EQ(gradients_on_ranks(3, at_once), expected) << "3 ranks, " << at_once << " at once";
  }
}

TEST(DataParallel, a_backward_of_ones_own_before_the_first_pass_changes_no_bits) {
  const Gradients expected = alone(1);
  Tensor x = ones({1});
  x.set_requires_grad(true);
  (x * x).backward();
  EXPECT_EQ(alone(1), expected);
}

TEST(DataParallel, wants_a_model_that_is_built) {
  run_ranks(1, [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto model = nn::make<nn::LazyLinear>(4);
    try {
      data_parallel(*model, borrowed, {.grain = kGrain});
      ADD_FAILURE() << "no exception";
    } catch (const RuntimeError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 36), "data_parallel: \"weight\" has no value");
    }
    model(ones({2, 3}));
    EXPECT_NO_THROW(data_parallel(*model, borrowed, {.grain = kGrain}));
  });
}

TEST(DataParallel, names_the_ranks_and_the_parameter_that_differ) {
  try {
    run_ranks(2, [](Communicator& comm) {
      set_seed(static_cast<std::uint64_t>(comm.rank()));
      const auto model = nn::make<toy::Model>();
      data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    });
    FAIL();
  } catch (const Desync& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 has positions"), std::string::npos)
        << error.what();
  }
}

thread_local std::string units_of_rank = "all";

TEST(DataParallel, refuses_ranks_that_compute_other_bits) {
  const NumericsFact fact{"arithmetic units", [] { return units_of_rank; }};
  try {
    run_ranks(2, [](Communicator& comm) {
      set_seed(1);
      units_of_rank = comm.rank() == 0 ? "narrow" : "wide";
      const auto model = nn::make<toy::Model>();
      data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    });
    FAIL();
  } catch (const Desync& error) {
    EXPECT_NE(std::string(error.what())
                  .find("rank 0 has arithmetic units = narrow, rank 1 has arithmetic units = wide"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera::dist
