// A run that draws between its loops and is restored goes on with the numbers of one that was never
// stopped.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/random_like.h>
#include <tessera/dist/checkpoint/training_state.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/make.h>
#include <tessera/nn/optim/adamw.h>

#include "support/temporary_folder.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::Values;
using testing_support::values_of;

/// What a program does between two epochs, with a parameter.
using Between = std::function<void(const Tensor& bias)>;

const std::map<std::string, Between> kBetween = {
    {"randn", [](const Tensor& b) { b.copy_(b + 0.1 * randn({4})); }},
    {"randn_like twice",
     [](const Tensor& b) {
       static_cast<void>(randn_like(b));
       b.copy_(b + 0.1 * randn_like(b));
     }},
    {"a model",
     [](const Tensor& b) { b.copy_(b + nn::make<nn::Linear>(1, 4)->bias.value().detach()); }},
};

struct Stop {
  std::int64_t epoch = 0;  ///< behind which the run is saved and stopped; 0: never
  bool resume = false;
  bool saves_between = true;  ///< behind what is drawn between two epochs, else in front of it
};

Values train(Communicator& comm, const Between& between, const Stop& stop,
             const std::string& folder) {
  set_seed(5);
  Context::current().rank = comm.rank();
  Context::current().world_size = comm.size();
  const auto model = nn::make<nn::Linear>(4, 4);
  data::DataLoader loader(data::TensorDataset{randn({16, 4})}, {.batch_size = 8, .grain = 4});
  const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 4});
  optim::AdamW optimizer(model->parameters(), {.lr = 0.1});
  const TrainingRun run{*model, optimizer, loader, {}};
  if (stop.resume) {
    TrainingCheckpoint(folder, std::nullopt, comm).restore(run);
    if (!stop.saves_between) {
      between(model->bias.value().detach());
    }
  }
  while (loader.epoch() < 3) {
    for (auto& [x] : loader) {
      const Tensor y = model(dropout(x, 0.3));
      mean(y * y).backward();
      optimizer.step();
    }
    const bool ends = !stop.resume && loader.epoch() == stop.epoch;
    if (ends && !stop.saves_between) {
      EXPECT_EQ(save_training(folder, 1, run, comm), std::nullopt);
      return {};
    }
    between(model->bias.value().detach());
    if (ends) {
      EXPECT_EQ(save_training(folder, 1, run, comm), std::nullopt);
      return {};
    }
  }
  return values_of(*model);
}

Values train_on(int ranks, const Between& between, const Stop& stop, const std::string& folder) {
  Values of_rank_0;
  run_ranks(ranks, [&](Communicator& comm) {
    Values values = train(comm, between, stop, folder);
    if (comm.rank() == 0) {
      of_rank_0 = std::move(values);
    }
  });
  return of_rank_0;
}

TEST(DrawsOfResumedRuns, are_those_of_a_run_that_was_never_stopped) {
  for (const auto& [name, between] : kBetween) {
    const Values expected = train_on(1, between, {}, "");
    for (const bool saves_between : {true, false}) {
      for (const int after : {1, 2}) {
        SCOPED_TRACE(name + " on " + std::to_string(after) +
                     (saves_between ? " behind" : " ahead"));
        const testing_support::TemporaryFolder folder;
        train_on(2, between, {.epoch = 2, .saves_between = saves_between}, folder.path());
        const Stop resumed{.resume = true, .saves_between = saves_between};
        EXPECT_EQ(train_on(after, between, resumed, folder.path()), expected);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::dist
