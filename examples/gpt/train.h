// A run, from its options to its sample.
#pragma once

#include <tessera/dist/world.h>

#include "options.h"

/// Trains, saves, evaluates and samples as `options` say, on all ranks of `world`.
void train(const Options& options, const tessera::dist::World& world);
