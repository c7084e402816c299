// Whole training steps: data loader, model, data parallel and optimizer together.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/token_windows.h>
#include <tessera/nn/layers/causal_self_attention.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/optim/adamw.h>

#include "dist/text.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::Values;
using testing_support::values_of;

constexpr std::int64_t kFewSteps = 3;

/// A small language model with dropout and a tied head.
struct LanguageModel : nn::Module {
  nn::Child<nn::Embedding> wte{this, "wte", kVocab, 8};
  nn::Child<nn::CausalSelfAttention> attn{this, "attn", 8, 2,
                                          nn::AttentionLayerOptions{.dropout = 0.1}};
  nn::Child<nn::LayerNorm> ln_f{this, "ln_f", 8};
  nn::Child<nn::Linear> head{this, "head", 8, kVocab, nn::LinearOptions{.bias = false}};
  LanguageModel() { head->weight.tie(wte->weight); }
  [[nodiscard]] Tensor forward(const Tensor& ids, const Tensor& targets) const {
    return cross_entropy(head(ln_f(attn(wte(ids)))), targets);
  }
};

/// The weights after a few steps, from the loop that users write. `wrap` makes the model parallel.
template <class F>
Values train_on_text(std::int64_t at_once, const F& wrap) {
  set_seed(11);
  const auto model = nn::make<LanguageModel>();
  data::DataLoader loader(data::TokenWindows(text(), {.context = 6, .vocab = kVocab}),
                          {.batch_size = 16,
                           .shuffle = true,
                           .join_epochs = true,
                           .steps = kFewSteps,
                           .grain = 8,
                           .at_once = at_once});
  [[maybe_unused]] const auto reducer = wrap(*model, loader);
  optim::AdamW optimizer(model->parameters(), {.lr = 0.01, .weight_decay = 0.1});
  optimizer.clip_grad_norm(0.5);
  for (auto& [x, y] : loader) {
    const Tensor loss = model(x, y);
    loss.backward();
    optimizer.step();
  }
  EXPECT_EQ(optimizer.steps(), kFewSteps);
  return values_of(*model);
}

Values weights_alone(std::int64_t at_once) {
  return train_on_text(at_once, [](nn::Module&, const data::LoaderBase&) { return 0; });
}

Values weights_on_ranks(int ranks, std::int64_t at_once) {
  Values of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    Context& context = Context::current();
    context.rank = comm.rank();
    context.world_size = comm.size();
    const Values values =
        train_on_text(at_once, [&](nn::Module& model, const data::LoaderBase& loader) {
          const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
          return data_parallel(model, borrowed, {.grain = loader.grain()});
        });
    if (comm.rank() == ranks - 1) {
      of_last_rank = values;
    }
  });
  return of_last_rank;
}

TEST(Training, gives_the_same_weights_on_any_number_of_ranks_and_passes) {
  const Values expected = weights_alone(0);
  for (const std::int64_t at_once : {1, 2, 4}) {
    EXPECT_EQ(weights_alone(at_once), expected) << at_once << " at once";
  }
  for (const int ranks : {1, 2, 3, 4, 8}) {
    EXPECT_EQ(weights_on_ranks(ranks, 0), expected) << ranks << " ranks";
    EXPECT_EQ(weights_on_ranks(ranks, 1), expected) << ranks << " ranks, one microbatch at once";
  }
}

}  // namespace
}  // namespace tessera::dist
