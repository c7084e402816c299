// What a sample begins with.
#pragma once

#include <cstdint>
#include <vector>

#include "options.h"

/// The tokens of --prompt: its bytes, or with .bin data the numbers in it, parted by spaces. Throws
/// InvalidArgument when there are none or one is outside the vocabulary.
[[nodiscard]] std::vector<std::int64_t> prompt_tokens(const Options& options);
