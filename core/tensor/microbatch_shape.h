// Shapes and sizes of one microbatch of a tensor that holds several.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// The number of dims of `x`, without that of stacked microbatches.
[[nodiscard]] inline int unstacked_ndim(const Tensor& x) {
  return x.ndim() - (x.microbatches().per_microbatch ? 1 : 0);
}

/// The shape of `x`, without the dim of stacked microbatches: functions that call ops with dims and
/// sizes that follow from it do the same with each microbatch.
[[nodiscard]] inline Shape unstacked_shape(const Tensor& x) {
  Shape shape = x.shape();
  if (x.microbatches().per_microbatch) {
    shape.erase(0);
  }
  return shape;
}

/// Elements of a microbatch of `x`, by shape.
[[nodiscard]] inline std::int64_t elements_of_microbatch(const Tensor& x) {
  return x.numel() / (x.microbatches() ? x.microbatches().count : 1);
}

/// True when each microbatch of `x` is one run of its elements, as kernels that sum by rows want
/// it.
[[nodiscard]] inline bool lie_in_runs(const Tensor& x) {
  const auto before = x.shape().begin() + (x.microbatches() ? x.microbatches().dim : 0);
  return std::all_of(x.shape().begin(), before, [](std::int64_t size) { return size == 1; });
}

}  // namespace tessera
