// Initialisation that keeps the variance of activations behind a rectifier (He et al., "Delving
// Deep into Rectifiers", ICCV 2015).
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Uniform in +-sqrt(6 / ((1 + slope^2) fan_in)); `slope` is that of a leaky rectifier. The weights
/// of Linear use slope sqrt(5), which is +-1 / sqrt(fan_in).
[[nodiscard]] Initializer kaiming_uniform(double slope = 0);

/// Normal with standard deviation sqrt(2 / ((1 + slope^2) fan_in)).
[[nodiscard]] Initializer kaiming_normal(double slope = 0);

}  // namespace tessera::nn::init
