// What gelu and its gradient share.
#pragma once

#include <cmath>
#include <numbers>

namespace tessera {

inline constexpr long double kGeluCubic = 0.044715L;
inline constexpr long double kRoot2OverPi =
    std::numbers::sqrt2_v<long double> * std::numbers::inv_sqrtpi_v<long double>;

/// What gelu multiplies x with: the normal distribution function of x, or 1 / (1 + e^-2u), which is
/// (1 + tanh u) / 2. Far left both fall as e^-x^2: only a wider type keeps all digits of a double.
inline long double gelu_gate(long double x, bool tanh_form) {
  if (tanh_form) {
    return 1 / (1 + std::exp(-2 * kRoot2OverPi * (x + kGeluCubic * x * x * x)));
  }
  return std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2;
}

}  // namespace tessera
