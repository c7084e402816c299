// Training the toy model with every optimizer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>

#include "support/toy_model.h"

namespace tessera::dist::toy {

using Optimizers = std::vector<std::unique_ptr<optim::Optimizer>>;
using MakeOptimizers = std::function<Optimizers(const Model&)>;

template <class Kind, class Options>
MakeOptimizers one(const Options& options) {
  return [options](const Model& model) {
    Optimizers optimizers;
    optimizers.push_back(std::make_unique<Kind>(model.parameters(), options));
    return optimizers;
  };
}

/// Muon takes some matrices, AdamW the rest.
inline Optimizers muon_and_adamw(const Model& model) {
  Optimizers optimizers;
  optimizers.push_back(std::make_unique<optim::Muon>(
      std::vector<nn::Parameter>{model.positions, model.table}, optim::MuonOptions{.lr = 0.1}));
  optimizers.push_back(std::make_unique<optim::AdamW>(
      std::vector<nn::Parameter>{model.wide, model.once, model.twice, model.unused}));
  return optimizers;
}

inline std::vector<MakeOptimizers> every_kind() {
  using namespace optim;  // NOLINT(google-build-using-namespace)
  return {one<Adam>(AdamOptions{.lr = 0.01, .weight_decay = 0.1, .amsgrad = true}),
          one<AdamW>(AdamWOptions{.lr = 0.01}),
          one<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5}),
          one<Adagrad>(AdagradOptions{.lr_decay = 0.5}),
          one<RMSprop>(RMSpropOptions{.momentum = 0.9, .centered = true}),
          one<Lion>(LionOptions{.lr = 0.01, .weight_decay = 0.1}),
          one<Adafactor>(AdafactorOptions{.lr = 0.1, .weight_decay = 0.1}),
          muon_and_adamw};
}

using Weights = Gradients;

/// The weights after three steps.
inline Weights train(const nn::Ptr<Model>& model, const std::vector<TreeLeaf>& blocks,
                     const MakeOptimizers& make) {
  const Optimizers optimizers = make(*model);
  for (int step = 0; step < 3; ++step) {
    run_passes(model, blocks, kGrain);
    for (const auto& optimizer : optimizers) {
      optimizer->step();
    }
  }
  Weights weights;
  for (const nn::Parameter& p : model->parameters()) {
    weights.push_back(p.value().to_vector<float>());
  }
  return weights;
}

/// Those of one process.
inline Weights train_alone(const MakeOptimizers& make) {
  const ContextScope one_process(std::make_shared<Context>());
  set_seed(3);
  return train(nn::make<Model>(), {{.rank = 0, .block = 0, .first = 0, .size = kGrain}}, make);
}

}  // namespace tessera::dist::toy
