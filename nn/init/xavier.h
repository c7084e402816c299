// Initialisation that balances the variance forward and backward (Glorot and Bengio,
// "Understanding the difficulty of training deep feedforward neural networks", AISTATS 2010).
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Uniform in +-gain * sqrt(6 / (fan_in + fan_out)).
[[nodiscard]] Initializer xavier_uniform(double gain = 1);

/// Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)).
[[nodiscard]] Initializer xavier_normal(double gain = 1);

}  // namespace tessera::nn::init
