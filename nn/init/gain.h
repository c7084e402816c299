// What a nonlinearity does to the size of activations.
#pragma once

#include <cstdint>

namespace tessera::nn::init {

enum class Nonlinearity : std::uint8_t { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor for a weight in front of `nonlinearity` that keeps the size of activations: 1 for
/// linear (convolutions too) and sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2 / (1 + slope^2))
/// for leaky_relu, 3/4 for selu.
[[nodiscard]] double calculate_gain(Nonlinearity nonlinearity, double slope = 0.01);

}  // namespace tessera::nn::init
