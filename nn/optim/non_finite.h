// Gradients that are infinite or not a number.
#pragma once

#include <cstdint>

#include <tessera/core/base/error.h>

namespace tessera::optim {

/// What `step` does about them.
enum class NonFinite : std::uint8_t {
  stop,  ///< throws NonFiniteGradient; weights and gradients stay as they are
  skip,  ///< drops the gradients; weights and state stay as they are
};

/// The text names the step and, of the parameters whose gradient is not finite, the last in the
/// order of the optimizer: the one that backward came to first, since what it makes of it spreads.
struct NonFiniteGradient : Error {
  using Error::Error;
};

}  // namespace tessera::optim
