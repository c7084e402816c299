// From what was given to what is meant: presets, defaults, and what a checkpoint fixes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options.h"

/// The options that change weights, by name: what a checkpoint stores and ranks must agree on.
using FixedOptions = std::vector<std::pair<std::string, std::string>>;

/// Spells out what stands for other options: a preset is its sizes, but for those given singly, and
/// --grain 0 is no --grain.
Options spell_out(const Options& given);

/// Fills defaults in. Throws InvalidArgument for what does not fit together.
Options resolve(const Options& options);

[[nodiscard]] FixedOptions fixed_options(const Options& options);

/// Takes every option that was not given from `stored`. Throws InvalidArgument naming both values
/// when one was given, by itself or by a preset, and differs.
void adopt(Options& options, const FixedOptions& stored);
