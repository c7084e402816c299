// Normal numbers from random words.
#pragma once

#include <cmath>
#include <numbers>

#include <tessera/core/base/philox.h>

namespace tessera {

/// Standard normal, of two words of a block (Box and Muller, "A Note on the Generation of Random
/// Normal Deviates", 1958); a block an element keeps elements independent of their neighbours.
[[nodiscard]] inline double to_normal(const PhiloxBlock& block) {
  const double radius = std::sqrt(-2 * std::log(1 - double{to_uniform(block[0])}));
  return radius * std::cos(2 * std::numbers::pi * double{to_uniform(block[1])});
}

}  // namespace tessera
