// Conditions on the elements of a tensor.
//
//   if (any(loss > 1e3)) { ... }
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// True when some element is not 0; nan is none. False without elements. Waits for pending work;
/// throws NotImplementedError on the meta device.
[[nodiscard]] bool any(const Tensor& x);
/// True when no element is 0; nan is none. True without elements. Waits and throws as `any`.
[[nodiscard]] bool all(const Tensor& x);

}  // namespace tessera
