// One value everywhere.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

[[nodiscard]] Initializer constant(double value);
[[nodiscard]] Initializer zeros();
[[nodiscard]] Initializer ones();

}  // namespace tessera::nn::init
