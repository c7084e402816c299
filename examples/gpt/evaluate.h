// The loss on other data.
#pragma once

#include "stepper.h"

/// The tokens of --eval-data, none without it. Throws as load_tokens does, and when they are too
/// few.
tessera::data::TokenSequence load_eval_tokens(const Options& options);

/// Mean loss over the first 16 batches of --eval-data, in order, without dropout. Collective.
double evaluate(const Run& run);
