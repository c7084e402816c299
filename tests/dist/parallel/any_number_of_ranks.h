// Runs a training loop alone and on ranks that are threads: all must give the same bits.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {

/// What `train(at_once, wrap)` gives on the last of `ranks`; `wrap` makes a model data parallel.
template <class Train>
auto train_on_ranks(const Train& train, std::int64_t grain, int ranks, std::int64_t at_once) {
  const auto on_rank = [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    return train(at_once, [&](nn::Module& model) {
      return data_parallel(model, borrowed, {.grain = grain});
    });
  };
  decltype(train(at_once, [](nn::Module&) { return 0; })) of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    Context& context = Context::current();
    context.rank = comm.rank();
    context.world_size = comm.size();
    auto values = on_rank(comm);
    if (comm.rank() == ranks - 1) {
      of_last_rank = std::move(values);
    }
  });
  return of_last_rank;
}

/// Compares `train` alone with one microbatch a pass to it with 2 and all of them, and on as many
/// ranks as `counts` say with one and with all.
template <class Train>
void expect_same_bits_on_ranks(const Train& train, std::int64_t grain,
                               std::initializer_list<int> counts) {
  const auto alone = [](nn::Module&) { return 0; };
  const auto expected = train(1, alone);
  for (const std::int64_t at_once : {0, 2}) {
    EXPECT_EQ(train(at_once, alone), expected) << at_once << " at once";
  }
  for (const int ranks : counts) {
    EXPECT_EQ(train_on_ranks(train, grain, ranks, 0), expected) << ranks << " ranks";
    EXPECT_EQ(train_on_ranks(train, grain, ranks, 1), expected) << ranks << " ranks, one by one";
  }
}

/// The same for what some layouts may refuse: one gives the bits of one process with passes of
/// `at_once` microbatches, or throws an Error whose text holds `refusal`.
template <class Train>
void expect_same_bits_or_refusal(const Train& train, std::int64_t grain,
                                 std::initializer_list<int> counts, const std::string& refusal,
                                 std::int64_t at_once = 0) {
  const auto alone = [](nn::Module&) { return 0; };
  const auto expected = train(at_once, alone);
  int refused = 0;
  const auto expect_either = [&](int ranks, std::int64_t passes_of) {
    try {
      const auto values =
          ranks == 0 ? train(passes_of, alone) : train_on_ranks(train, grain, ranks, passes_of);
      EXPECT_EQ(values, expected) << ranks << " ranks, " << passes_of << " at once";
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find(refusal), std::string::npos)
          << error.what() << "; " << ranks << " ranks, " << passes_of << " at once";
    }
  };
  for (const std::int64_t passes_of : {0, 1, 2}) {
    expect_either(0, passes_of);
  }
  for (const int ranks : counts) {
    expect_either(ranks, 0);
    expect_either(ranks, 1);
  }
  EXPECT_GT(refused, 0);
}

}  // namespace tessera::dist
