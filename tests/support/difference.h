// Ranks of which one does something else than the others.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/changing_model.h"

namespace tessera::dist::changing {

inline constexpr std::int64_t kStep = 2;  // before which a rank becomes other than the rest

/// What a rank does otherwise, and what the sentence must hold.
struct Difference {
  std::string name;
  std::vector<std::string> words;
  std::function<void(data::LoaderOptions&)> loader = [](data::LoaderOptions&) {};
  std::function<data::TensorDataset<2>()> samples = [] { return changing::samples(); };
  std::function<Optimizers(const Model&)> optimizers = Script().optimizers;
  std::function<void(Training&)> change = [](Training&) {};  ///< before step kStep
};

struct Outcome {
  std::string error;
  Values before;  ///< the weights before the backward that failed
  Values after;
};

inline Outcome run_rank(Communicator& comm, const Difference& difference) {
  set_seed(11);
  Training training{nn::make<Model>(), {}, nullptr};
  data::LoaderOptions options = loader_options();
  difference.loader(options);
  data::DataLoader loader(difference.samples(), options);
  const auto reducer = data_parallel(*training.model, {&comm, [](Communicator*) {}},
                                     {.grain = 8, .buckets = {.first_bytes = 64, .bytes = 256}});
  training.optimizers = difference.optimizers(*training.model);
  Outcome outcome;
  try {
    for (auto& [x, y] : loader) {
      if (Context::current().step == kStep + 1) {
        difference.change(training);
      }
      outcome.before = values_of(*training.model);
      training.model(x, y).backward();
      for (const auto& optimizer : training.optimizers) {
        optimizer->step();
      }
    }
  } catch (const Disagreement& error) {
    outcome.error = error.what();
  }
  outcome.after = values_of(*training.model);
  return outcome;
}

/// `odd` of `ranks` differs.
inline void expect_refused(const Difference& difference, int ranks, int odd) {
  SCOPED_TRACE(tessera::detail::concat(difference.name, ", rank ", odd, " of ", ranks));
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  try {
    run_ranks(ranks, [&](Communicator& comm) {
      const bool other = comm.rank() == odd;
      outcomes[static_cast<std::size_t>(comm.rank())] =
          run_rank(comm, other ? difference : Difference{});
    });
  } catch (const Error& error) {
    ADD_FAILURE() << "not a Disagreement: " << error.what();
    return;
  }
  const std::string second = "rank " + std::to_string(odd > 0 ? odd : 1) + " has";
  for (const Outcome& outcome : outcomes) {
    EXPECT_THAT(outcome.error, testing::HasSubstr("rank 0 has"));
    EXPECT_THAT(outcome.error, testing::HasSubstr(second));
    EXPECT_EQ(outcome.error, outcomes[0].error);
    for (const std::string& word : difference.words) {
      EXPECT_THAT(outcome.error, testing::HasSubstr(word));
    }
    EXPECT_EQ(outcome.after, outcome.before);
  }
}

inline void expect_refused(const std::vector<Difference>& differences) {
  for (const Difference& difference : differences) {
    expect_refused(difference, 2, 0);
    expect_refused(difference, 2, 1);
    expect_refused(difference, 4, 3);
  }
}

inline Difference in_model(const std::string& name, std::vector<std::string> words,
                           std::function<void(Training&)> change) {
  Difference difference{.name = name, .words = std::move(words)};
  difference.change = std::move(change);
  return difference;
}

}  // namespace tessera::dist::changing
