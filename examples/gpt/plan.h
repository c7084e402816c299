// Who trains what: how the model is spread over the ranks, and how its weights are updated.
#pragma once

#include <memory>

#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/dist/world.h>
#include <tessera/nn/optim/adamw.h>

#include "data.h"
#include "model.h"
#include "options.h"

/// Throws Disagreement naming ranks and values when the ranks were not told alike what to do.
/// Collective: the first call of all.
void require_same_options(const Options& options, const tessera::dist::World& world);

/// Throws Disagreement when the ranks' --eval-data differ, with the lengths or hashes. (Data
/// parallel compares what is trained on.) Collective.
void require_same_eval_data(const tessera::data::TokenSequence& eval_tokens,
                            const tessera::dist::World& world);

/// Data parallel over all ranks; nothing to do for one. Collective.
std::shared_ptr<tessera::dist::GradientReducer> apply_plan(Gpt& model, const Loader& loader,
                                                           const tessera::dist::World& world);

/// AdamW with decay on matrices only, as nanoGPT has it.
tessera::optim::AdamW make_optimizer(const Gpt& model, const Options& options);
