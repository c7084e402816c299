// What products of matrices ask of their factors.
#pragma once

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Throws InvalidArgument unless all inputs can be rounded to `dtype`: no complex number to a real
/// one, no fraction to an integer.
void check_factors(const Infer& c, DType dtype);

}  // namespace tessera
