// The tokens to train on.
#pragma once

#include <string>

#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/token_windows.h>

#include "options.h"

/// Whether the data at `path` are tokens, by its name, and not text.
[[nodiscard]] bool holds_tokens(const std::string& path);

/// Bytes of a text file or folder as tokens, or the 16-bit tokens of a .bin file.
/// Throws InvalidArgument or IoError in one sentence.
tessera::data::TokenSequence load_tokens(const std::string& path);

/// Windows of --context tokens, checked against --vocab. Throws InvalidArgument when there are too
/// few.
tessera::data::TokenWindows cut_windows(tessera::data::TokenSequence tokens,
                                        const Options& options);

/// How the loader cuts them into steps.
tessera::data::LoaderOptions loader_options(const Options& options);

using Loader = tessera::data::DataLoader<tessera::data::TokenWindows>;
