// Convolutions that begin by handing their input on.
#pragma once

#include <cstdint>

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// In each of `groups` parts of a weight (out, in, kernel...), 1 in the middle of the kernel from
/// input channel c to output channel c, 0 elsewhere. Throws ValueError unless there are one, two or
/// three dims of kernel and `groups` divides out.
[[nodiscard]] Initializer dirac(std::int64_t groups = 1);

}  // namespace tessera::nn::init
