// The cost of recorded ops.
#pragma once

#include <tessera/core/autograd/node.h>

namespace tessera::nn {

/// Products that the op adds up: of matrices, convolutions, attention and recurrent layers; 0 for
/// all other ops. Masks and causality are of no account.
[[nodiscard]] std::int64_t multiply_adds_of(const OpNode& node);

}  // namespace tessera::nn
