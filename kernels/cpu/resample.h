// Weighted sums of positions, plane by plane.
#pragma once

#include <tessera/core/ops/support/resampling.h>
#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

/// y (planes, out...) of x (planes, in...), both dense and f32 or bf16. Rows are added first, then
/// the positions of a row, in f32.
void resample(const Resampling&, std::int64_t planes, DType, const void* x, void* y);

/// x (planes, in...) = the gradient of it, from that of y.
void resample_backward(const Resampling&, std::int64_t planes, DType, const void* y, void* x);

}  // namespace tessera::cpu
