// Every optimizer behind data parallel: the bits of one process on any number of ranks.
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
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
            data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = kGrain});
        const auto blocks = ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank());
        weights[static_cast<std::size_t>(comm.rank())] = toy::train(model, blocks, make);
      });
      for (const toy::Weights& of_rank : weights) {
        EXPECT_EQ(of_rank, expected) << ranks << " ranks";
      }
    }
  }
}

/// AdamW, whose state is dealt out by elements, then Adafactor, for which one rank keeps a
/// parameter whole, then AdamW again.
std::vector<std::vector<float>> take_turns(std::int64_t at_once, const auto& wrap) {
  set_seed(5);
  const auto model = nn::make<nn::Linear>(37, 29);
  [[maybe_unused]] const auto reducer = wrap(*model);
  optim::AdamW by_elements(model->parameters());
  optim::Adafactor whole({model->weight});
  data::DataLoader loader(data::TensorDataset{randn({48, 37})},
                          {.batch_size = 16, .workers = 0, .grain = 8, .at_once = at_once});
  for (auto& [x] : loader) {
    const Tensor y = model(x);
    mean(y * y).backward();
    if (Context::current().step == 2) {
      whole.step();
    } else {
      by_elements.step();
    }
  }
  return {model->weight.value().to_vector<float>(), model->bias.value().to_vector<float>()};
}

TEST(Optimizers, that_take_turns_find_their_own_states_again) {
  const auto loop = [](std::int64_t at_once, const auto& wrap) {
    return take_turns(at_once, wrap);
  };
  expect_same_bits_on_ranks(loop, 8, {2, 3, 4});
}

TEST(Optimizers, say_that_the_state_of_a_rank_is_a_part_of_it) {
  run_ranks(2, [](Communicator& comm) {
    const auto model = nn::make<nn::Linear>(8, 8);
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    optim::AdamW optimizer(model->parameters());
    EXPECT_TRUE(optimizer.state().tensors.empty());
    data::DataLoader loader(data::TensorDataset{ones({4, 8})}, {.batch_size = 4, .grain = 2});
    for (auto& [x] : loader) {
      sum(model(x)).backward();
      optimizer.step();
    }
    EXPECT_EQ(optimizer.own_state().tensors.size(), 4U);
    try {
      static_cast<void>(optimizer.state());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const RuntimeError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("dist::save_training saves what all ranks keep"), text.npos) << text;
    }
  });
}

struct TwoParts : nn::Module {
  nn::Child<nn::Linear> a{this, "a", 3, 3};
  nn::Child<nn::Linear> first{this, "first", 3, 3};
  nn::Child<nn::Linear> second{this, "second", 3, 3};
};

TEST(SeveralOptimizers, the_step_of_one_leaves_the_graph_of_anothers_weights_alone) {
  run_ranks(1, [](Communicator& comm) {
    const auto model = nn::make<TwoParts>();
    const auto reducer =
        data_parallel(*model, {&comm, [](Communicator*) {}}, DataParallelOptions{.grain = 1});
    optim::SGD of_a(model->a->parameters(), {.lr = 0.1});
    optim::SGD of_first(model->first->parameters(), {.lr = 0.1});
    optim::SGD of_second(model->second->parameters(), {.lr = 0.1});
    const Tensor x = ones({2, 3});
    const Tensor loss_a = sum(model->a(x));
    const Tensor loss_b = sum(model->second(model->first(x)));
    loss_a.backward();
    of_a.step();
    EXPECT_NO_THROW(loss_b.backward());
    of_first.step();
    of_second.step();
  });
}

}  // namespace
}  // namespace tessera::dist
