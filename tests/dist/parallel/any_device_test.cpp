// Data parallel training on the device whose memory the host cannot touch and whose work comes late
// gives the bits of one process on the CPU.
#include <gtest/gtest.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/transformer_block.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/muon.h>

#include "dist/parallel/any_number_of_ranks.h"
#include "support/error_of.h"
#include "support/guarded_device.h"
#include "support/sweep.h"

namespace tessera::dist {
namespace {

using Bits = std::vector<std::uint64_t>;
using Sentences = std::vector<std::string>;

constexpr std::int64_t kWords = 31, kLength = 6;

/// A small GPT: its head is tied to an embedding, so that its gradient is dense and sparse; another
/// embedding has rows alone.
struct TinyGpt : nn::Module {
  TinyGpt() { lm_head->weight.tie(wte->weight); }
  Tensor forward(const Tensor& ids, const Tensor& targets) const {
    const Tensor places = arange(kLength, {.dtype = DType::i64, .device = ids.device()});
    return linear_cross_entropy(block(drop(wte(ids) + wpe(places))), lm_head->weight, targets);
  }
  nn::Child<nn::Embedding> wte{this, "wte", kWords, 8};
  nn::Child<nn::Embedding> wpe{this, "wpe", kLength, 8};
  nn::Child<nn::Dropout> drop{this, "drop", 0.1};
  nn::Child<nn::TransformerBlock> block{this, "block", 8, 2};
  nn::Child<nn::Linear> lm_head{this, "lm_head", 8, kWords, nn::LinearOptions{.bias = false}};
};

template <class Optimizer>
Optimizer optimizer_of(TinyGpt& model) {
  std::vector<nn::Parameter> parameters = model.parameters();
  if constexpr (std::is_same_v<Optimizer, optim::Muon>) {
    std::erase_if(parameters, [](const nn::Parameter& p) { return p.shape().size() != 2; });
  }
  return Optimizer(std::move(parameters), {.lr = 0.05});
}

/// Three global batches of four microbatches, whose targets do not all count, trained on `device`
/// in passes of `at_once` microbatches; `wrap` makes the model data parallel. In the second step a
/// part is frozen.
template <class Optimizer, class Wrap>
Bits train_gpt(const Device& device, std::int64_t at_once, const Wrap& wrap) {
  set_seed(1);
  const auto model = nn::make<TinyGpt>();
  model->to(device);
  [[maybe_unused]] const auto wrapped = wrap(*model);
  auto optimizer = optimizer_of<Optimizer>(*model);
  optimizer.clip_grad_norm(0.5);
  Tensor ids = empty({24, kLength}, {.dtype = DType::i64});
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    ids.data<std::int64_t>()[i] = (i * i + 3 * i) % kWords;
  }
  const Tensor targets = where(ids < 5.0, -100, ids);
  data::DataLoader loader(data::TensorDataset(ids, targets),
                          {.batch_size = 8, .grain = 4, .at_once = at_once});
  for (auto& [x, y] : loader) {
    model->block->requires_grad_(Context::current().step != 1);
    model(on_device(x, device), on_device(y, device)).backward();
    optimizer.step();
  }
  Bits bits;
  for (const auto& [name, slot] : model->named_slots()) {
    bits.push_back(hash_elements(slot->value));
  }
  return bits;
}

template <class Optimizer>
void expect_same_on_guarded_ranks() {
  const Bits expected = train_gpt<Optimizer>(Device{}, 0, [](nn::Module&) { return 0; });
  std::int64_t at_once = 0;  // all microbatches of a rank, or one
  for (const std::uint64_t order : test::orders(5, 2)) {
    for (const int ranks : {2, 3}) {
      test::GuardedRun run(order);
      const auto train = [](std::int64_t microbatches, const auto& wrap) {
        const Device device = test::guarded_device(Context::current().rank);
        return train_gpt<Optimizer>(device, microbatches, wrap);
      };
      EXPECT_EQ(train_on_ranks(train, 4, ranks, at_once), expected)
          << ranks << " ranks, order " << order;
      EXPECT_EQ(run.reports(), Sentences{}) << ranks << " ranks, order " << order;
    }
    at_once = 1 - at_once;
  }
}

TEST(AnyDevice, trains_data_parallel_on_ranks_that_are_threads) {
  expect_same_on_guarded_ranks<optim::AdamW>();
}

TEST(AnyDevice, trains_data_parallel_where_an_optimizer_wants_whole_parameters) {
  expect_same_on_guarded_ranks<optim::Muon>();
}

TEST(AnyDevice, is_missed_by_the_clocks_where_a_wait_of_data_parallel_is_left_out) {
  const auto train = [] {
    const auto on_rank = [](std::int64_t at_once, const auto& wrap) {
      const Device device = test::guarded_device(Context::current().rank);
      return train_gpt<optim::AdamW>(device, at_once, wrap);
    };
    static_cast<void>(train_on_ranks(on_rank, 4, 2, 0));
  };
  std::size_t waits = 0;
  {
    test::GuardedRun run(1);
    train();
    waits = run.waits();
  }
  EXPECT_GE(waits, 50U);
  const auto sites = test::sampled(static_cast<int>(waits), 12);
  std::size_t seen = 0;
  for (const int i : sites) {
    test::GuardedRun run(1, static_cast<std::size_t>(i));
    try {
      train();
    } catch (const std::exception&) {  // of a kernel that met what was not written yet
    }
    const bool came = run.waits() > static_cast<std::size_t>(i);
    EXPECT_TRUE(!came || !run.reports().empty()) << "wait " << i << " of " << waits;
    seen += came ? 1 : 0;
  }
  EXPECT_GE(2 * seen, sites.size());
}

TEST(AnyDevice, data_parallel_names_the_parameter_that_lies_elsewhere) {
  const test::GuardedRun run(1);
  run_ranks(1, [](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto model = nn::make<TinyGpt>();
    model->wpe->to(test::guarded_device());
    EXPECT_EQ(testing_support::error_of<Unsupported>(
                  [&] { static_cast<void>(data_parallel(*model, borrowed, {.grain = 1})); }),
              "data_parallel: wpe.weight is not where the other parameters are; got guarded:0, "
              "expected cpu as of wte.weight");
    model->wpe->to(Device{});
    EXPECT_NE(data_parallel(*model, borrowed, {.grain = 1}), nullptr);
  });
}

}  // namespace
}  // namespace tessera::dist
