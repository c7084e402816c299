// Replacing what is not above a number.
#pragma once

#include <tessera/core/tensor/number.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// x where x > threshold, else `value`; nan stays nan. What backward needs is one byte an element.
/// The dtype is that of x: in integers `value` loses its fraction, which is said once in the log.
/// Throws TypeError for bools and complex numbers, ValueError for a value that integers of x's
/// dtype cannot hold.
[[nodiscard]] Tensor threshold(const Tensor& x, Number threshold, Number value);
const Tensor& threshold_(const Tensor& x, Number threshold, Number value);

}  // namespace tessera
