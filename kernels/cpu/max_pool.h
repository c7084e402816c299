// The largest elements of windows, plane by plane.
#pragma once

#include <tessera/core/ops/support/pooling.h>
#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// y and indices (planes, out...) of x (planes, in...), all dense; x and y are f32 or bf16.
void max_pool(const PoolGeometry&, DType, const void* x, void* y, std::int64_t* indices);

/// x (planes, in_size) = zeros with gradient (planes, out_size) added at its indices, both f32 or
/// bf16. Sums are f32, in the order of the gradient. False, with x undefined, for an index outside.
[[nodiscard]] bool max_pool_backward(std::int64_t planes, std::int64_t in_size,
                                     std::int64_t out_size, DType, const void* gradient,
                                     const std::int64_t* indices, void* x);

}  // namespace tessera::cpu
