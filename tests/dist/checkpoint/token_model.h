// A small model of tokens and the run that saves and restores it, for tests of checkpoints.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/checkpoint/training_state.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/token_windows.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

#include "dist/text.h"
#include "support/simulated_file_system.h"

namespace tessera::dist {

struct TokenModel : nn::Module {
  explicit TokenModel(std::int64_t width = 8, bool bias = true)
      : embed(this, "embed", kVocab, width),
        head(this, "head", width, kVocab, nn::LinearOptions{.bias = bias}) {}
  nn::Child<nn::Embedding> embed;
  nn::Child<nn::Linear> head;
  [[nodiscard]] Tensor forward(const Tensor& ids, const Tensor& targets) const {
    return cross_entropy(head(embed(ids)), targets);
  }
};

/// Saves `model` as a step of "run", or restores the newest one.
struct Alone {
  std::shared_ptr<Communicator> comm = make_loopback(1).front();
  nn::Ptr<TokenModel> model;
  optim::AdamW optimizer{model->parameters(), {}};
  data::DataLoader<data::TokenWindows> loader{
      data::TokenWindows(text(), {.context = 6, .vocab = kVocab}), {.batch_size = 8}};
  TrainingRun run{*model, optimizer, loader, {}};

  explicit Alone(nn::Ptr<TokenModel> given) : model(std::move(given)) {}
  void save(std::int64_t step) { EXPECT_EQ(save_training("run", step, run, *comm), std::nullopt); }
  void restore(std::optional<std::int64_t> step = {}) {
    TrainingCheckpoint("run", step, *comm).restore(run);
  }
};

/// Counts the batches that it saw.
struct Counter : nn::Module, nn::HasExtraState {
  std::int64_t seen = 0;
  Tensor table = zeros({2});
  [[nodiscard]] nn::Value get_extra_state() const override {
    return nn::Value::Map{{"seen", seen}, {"table", table}};
  }
  void set_extra_state(const nn::Value& state) override {
    seen = state.get<nn::Value::Map>().at("seen").get<std::int64_t>();
    table = state.get<nn::Value::Map>().at("table").tensor();
  }
};

}  // namespace tessera::dist
