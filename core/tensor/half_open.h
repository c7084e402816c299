// The upper end of ranges [begin, end) of floating numbers.
#pragma once

#include <tessera/core/tensor/dtype.h>

namespace tessera {

/// The largest number of `dtype`, a floating one, below `end`. What was drawn below `end` and is
/// larger than this would reach `end` when it is rounded to `dtype`; no other number changes by
/// being limited to it.
[[nodiscard]] double largest_below(double end, DType dtype);

}  // namespace tessera
