// Training a small model of which parts are frozen, unfrozen and replaced on the way.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

#include "support/values_of.h"

namespace tessera::dist::changing {

using testing_support::Values;
using testing_support::values_of;

inline constexpr std::int64_t kVocab = 24;
inline constexpr std::int64_t kWidth = 8;

/// With a head that is tied to the table.
struct Model : nn::Module {
  nn::Child<nn::Embedding> table{this, "table", kVocab, kWidth};
  nn::Child<nn::Linear> body{this, "body", kWidth, kWidth};
  nn::Child<nn::LayerNorm> norm{this, "norm", kWidth};
  nn::Child<nn::Linear> head{this, "head", kWidth, kVocab, nn::LinearOptions{.bias = false}};
  Model() { head->weight.tie(table->weight); }
  [[nodiscard]] Tensor forward(const Tensor& ids, const Tensor& targets) const {
    const Tensor x = norm(body(table(ids)));
    return cross_entropy(head(x), targets);
  }
};

inline data::LoaderOptions loader_options() {
  return {
      .batch_size = 16, .shuffle = true, .join_epochs = true, .steps = 6, .workers = 0, .grain = 8};
}

inline data::TensorDataset<2> samples(std::int64_t count = 60) {
  Tensor x = empty({count}, {.dtype = DType::i64});
  Tensor y = empty({count}, {.dtype = DType::i64});
  for (std::int64_t i = 0; i < count; ++i) {
    x.data<std::int64_t>()[i] = i * i % kVocab;
    y.data<std::int64_t>()[i] = (i * i + 3 * i) % kVocab;
  }
  return data::TensorDataset(x, y);
}

using Optimizers = std::vector<std::unique_ptr<optim::Optimizer>>;

/// What a run trains, for a change to work on.
struct Training {
  nn::Ptr<Model> model;
  Optimizers optimizers;
  nn::ModulePtr aside;  ///< a part that is out of the model for a while
};

/// How a run differs from the plain one.
struct Script {
  /// Before data parallel is applied.
  std::function<void(Model&)> prepare = [](Model&) {};
  std::function<Optimizers(const Model&)> optimizers = [](const Model& model) {
    Optimizers made;
    made.push_back(std::make_unique<optim::AdamW>(
        model.parameters(), optim::AdamWOptions{.lr = 0.01, .weight_decay = 0.1}));
    return made;
  };
  /// Before the backward of each step, counted from 0.
  std::function<void(std::int64_t step, Training&)> change = [](std::int64_t, Training&) {};
  std::int64_t at_once = 0;
};

/// The weights after all steps.
inline Values train(Communicator* comm, const Script& script) {
  set_seed(11);
  Training training{nn::make<Model>(), {}, nullptr};
  data::LoaderOptions options = loader_options();
  options.at_once = script.at_once;
  data::DataLoader loader(samples(), options);
  script.prepare(*training.model);
  std::shared_ptr<GradientReducer> reducer;
  if (comm != nullptr) {
    reducer = data_parallel(*training.model, {comm, [](Communicator*) {}},
                            {.grain = 8, .buckets = {.first_bytes = 64, .bytes = 256}});
  }
  training.optimizers = script.optimizers(*training.model);
  std::int64_t changed = -1;
  for (auto& [x, y] : loader) {
    const auto step = static_cast<std::int64_t>(Context::current().step) - 1;
    if (step != changed) {
      changed = step;
      script.change(step, training);
    }
    training.model(x, y).backward();
    for (const auto& optimizer : training.optimizers) {
      optimizer->step();
    }
  }
  return values_of(*training.model);
}

/// Those of one process.
inline Values train_alone(const Script& script) {
  const ContextScope one_process(std::make_shared<Context>());
  return train(nullptr, script);
}

}  // namespace tessera::dist::changing
