// The identity matrix.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// 1 on the diagonal of a matrix, 0 elsewhere. Throws ValueError unless there are two dims.
[[nodiscard]] Initializer eye();

}  // namespace tessera::nn::init
