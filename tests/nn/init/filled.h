// What initialisers write.
#pragma once

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/slot.h>

#include "support/values.h"

namespace tessera::nn {

/// What `initializer` makes of a tensor of sevens.
inline testing_support::Floats filled(const Initializer& initializer, const Shape& shape,
                                      std::uint64_t key = 1) {
  const Tensor value = full(shape, 7);
  initializer(value, Box::all_of(shape), {.key = key});
  return testing_support::values(value);
}

}  // namespace tessera::nn
