// Means whose denominator the data decide.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// sum(values * weights) / sum(weights) over the global batch, however many microbatches, passes
/// and ranks share it (docs/determinism.md); 0 where all weights are 0. For masks and padding:
/// weights of 0 and 1 (floats, or bools). `values` and `weights` have one shape; no gradient flows
/// to weights. In a pass of several microbatches the result is the mean of each, which `backward`
/// and `item` weigh by the sums of weights. Throws ValueError for shapes that differ, and where
/// weights below 0 make the sum of a microbatch's 0.
[[nodiscard]] Tensor weighted_mean(const Tensor& values, const Tensor& weights);

/// The weighted mean of values that were multiplied with their weights already; `name`, a literal,
/// is the loss that errors speak of.
[[nodiscard]] Tensor counted_mean(const char* name, const Tensor& weighted, const Tensor& weights);

}  // namespace tessera::nn
