// The quotient of a number and its size.
#pragma once

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/div.h>

namespace tessera {

/// x / (1 + |x|); integers become f32.
[[nodiscard]] inline Tensor softsign(const Tensor& x) {
  return x / (abs(x) + 1);
}

}  // namespace tessera
