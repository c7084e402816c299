// Values drawn evenly from an interval.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Uniform in [low, high).
[[nodiscard]] Initializer uniform(double low, double high);

}  // namespace tessera::nn::init
