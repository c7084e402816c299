// Initialisation that keeps the variance of activations behind a rectifier (He et al., "Delving
// Deep into Rectifiers", ICCV 2015).
#pragma once

#include <tessera/nn/init/fan.h>
#include <tessera/nn/init/gain.h>
#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// Uniform in +-gain sqrt(3 / fan), with the gain of `nonlinearity`; `slope` is that of a leaky
/// rectifier. The weights of Linear use slope sqrt(5), which is +-1 / sqrt(fan_in).
[[nodiscard]] Initializer kaiming_uniform(double slope = 0, FanMode mode = FanMode::fan_in,
                                          Nonlinearity nonlinearity = Nonlinearity::leaky_relu);

/// Normal with standard deviation gain / sqrt(fan).
[[nodiscard]] Initializer kaiming_normal(double slope = 0, FanMode mode = FanMode::fan_in,
                                         Nonlinearity nonlinearity = Nonlinearity::leaky_relu);

}  // namespace tessera::nn::init
