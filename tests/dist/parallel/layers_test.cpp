// Training with layers that keep statistics or go through time: the same weights and buffers on any
// number of ranks.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/token_windows.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/optim/sgd.h>

#include "dist/parallel/any_number_of_ranks.h"
#include "dist/text.h"
#include "support/sizes.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kFewTokens = 16;
constexpr std::int64_t kContext = 5;

/// Positions are the channels.
struct Norms : nn::Module {
  nn::Child<nn::Embedding> table{this, "table", kFewTokens, 8};
  nn::Child<nn::BatchNorm1d> batch_norm{this, "batch_norm", kContext};
  nn::Child<nn::InstanceNorm1d> instance_norm{this, "instance_norm", kContext,
                                              nn::InstanceNormOptions{.track_running_stats = true}};
  nn::Child<nn::BatchNorm1d> averaged{this, "averaged", kContext,
                                      nn::BatchNormOptions{.momentum = {}}};
  nn::Child<nn::Linear> head{this, "head", 8, kFewTokens};
  [[nodiscard]] Tensor forward(const Tensor& ids, const Tensor& targets) const {
    const Tensor x = batch_norm(batch_norm(table(ids)));
    return cross_entropy(head(averaged(instance_norm(x))), targets);
  }
};

/// Two layers, both ways, with dropout between them.
struct Recurrent : nn::Module {
  static constexpr nn::RecurrentOptions kOptions{
      .num_layers = 2, .batch_first = true, .dropout = 0.25, .bidirectional = true};
  nn::Child<nn::Embedding> table{this, "table", kFewTokens, 8};
  nn::Child<nn::LSTM> lstm{this, "lstm", 8, 6, kOptions};
  nn::Child<nn::GRU> gru{this, "gru", 12, 6, kOptions};
  nn::Child<nn::Linear> head{this, "head", 12, kFewTokens};
  [[nodiscard]] Tensor forward(const Tensor& ids, const Tensor& targets) const {
    return cross_entropy(head(gru(lstm(table(ids)).first).first), targets);
  }
};

using States = std::vector<std::vector<double>>;

/// Weights and buffers after three steps. `wrap` makes the model parallel.
template <class Model, class F>
States train_states(std::int64_t at_once, const F& wrap) {
  set_seed(11);
  const auto model = nn::make<Model>();
  data::DataLoader loader(
      data::TokenWindows(text(300, kFewTokens), {.context = kContext, .vocab = kFewTokens}),
      {.batch_size = 8,
       .shuffle = true,
       .join_epochs = true,
       .steps = 3,
       .grain = kSmallGrain,
       .at_once = at_once});
  [[maybe_unused]] const auto reducer = wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  for (auto& [x, y] : loader) {
    model(x, y).backward();
    optimizer.step();
  }
  States values;
  const nn::StateDict state = model->state_dict();
  for (const auto& [name, value] : state) {
    const Tensor tensor = value.tensor();
    values.push_back(tensor.to_vector<double>());
  }
  return values;
}

template <class Model>
void expect_same_states() {
  const auto loop = [](std::int64_t at_once, const auto& wrap) {
    return train_states<Model>(at_once, wrap);
  };
  expect_same_bits_on_ranks(loop, kSmallGrain, {1, 2, 4});
}

TEST(Layers, give_the_same_weights_and_statistics_on_any_number_of_ranks) {
  expect_same_states<Norms>();
}

TEST(Layers, give_the_same_weights_through_time_on_any_number_of_ranks) {
  expect_same_states<Recurrent>();
}

}  // namespace
}  // namespace tessera::dist
