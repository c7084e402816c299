// From what a caller asks of attention to the attributes of a call.
#pragma once

#include <tessera/core/ops/attention.h>

namespace tessera {

/// Draws a key when there is dropout. `x` holds the queries, samples in dim 0.
[[nodiscard]] AttentionAttrs attention_attrs(const Tensor& x, const AttentionOptions& options);

/// The dtype of sums and statistics of an op on inputs of `dtype`.
[[nodiscard]] inline DType statistics_dtype(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace tessera
