// The training loop.
#pragma once

#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/dist/world.h>
#include <tessera/nn/optim/adamw.h>

#include "data.h"
#include "model.h"
#include "options.h"
#include "report.h"

/// What a run holds while it trains; everything outlives the loop.
struct Run {
  const Options& options;
  const tessera::dist::World& world;
  const tessera::nn::Ptr<Gpt>& model;
  Loader& loader;
  const tessera::data::TokenSequence& eval_tokens;  ///< empty without --eval-data
  tessera::optim::AdamW& optimizer;
  tessera::dist::GradientReducer* reducer;  ///< null when alone
};

/// The mean loss of a pass, in --dtype.
[[nodiscard]] tessera::Tensor forward(const Run& run, const tessera::data::TokenBatch& batch);

/// Runs steps until the last one or until a signal asks for a stop, and reports, saves and
/// evaluates between them. False, on all ranks, when they were asked to stop.
bool run_steps(const Run& run);
