// Values drawn from a part of the normal distribution.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Normal with `mean` and `deviation` (the standard deviation before it is cut), drawn from
/// [low, high] alone: element i is the inverse of the distribution function at random word i.
/// Throws ValueError unless low < high and the deviation is positive.
[[nodiscard]] Initializer trunc_normal(double mean = 0, double deviation = 1, double low = -2,
                                       double high = 2);

}  // namespace tessera::nn::init
