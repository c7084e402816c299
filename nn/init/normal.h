// Values drawn from the normal distribution.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Normal with `mean` and `deviation` (the standard deviation), by the transform of Box and Muller
/// (1958): elements 2i and 2i+1 come from random words 2i and 2i+1.
[[nodiscard]] Initializer normal(double mean = 0, double deviation = 1);

}  // namespace tessera::nn::init
