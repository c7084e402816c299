// Letting the model write.
#pragma once

#include "model.h"
#include "options.h"

/// Prints --prompt and --sample tokens after it, drawn at temperature 0.8. On text, tokens are
/// bytes; with other vocabularies their numbers are printed.
void sample(const tessera::nn::Ptr<Gpt>& model, const Options& options);
