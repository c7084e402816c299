// Values drawn evenly from an interval.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Uniform in [low, high).
[[nodiscard]] Initializer uniform(double low = 0, double high = 1);

}  // namespace tessera::nn::init
