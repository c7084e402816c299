// The state that a recurrent layer starts from.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// Zeros (..., `size`) of `dtype` for x (..., n). They lie where x does, and in a pass of several
/// microbatches they belong to those of x, which plain zeros would not.
[[nodiscard]] Tensor zero_state(const Tensor& x, std::int64_t size, DType dtype);

}  // namespace tessera::nn
