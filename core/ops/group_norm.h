// Norms of groups of channels, each sample by itself.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// x (N, C, ...) with its channels in `groups` runs of equal length, every run of every sample
/// brought to mean 0 and variance 1, times weight (C), plus bias (C); both may be undefined (Wu and
/// He, "Group Normalization", ECCV 2018). The result has the dtype of x. Throws ValueError when the
/// groups do not divide C, and for a batch with a single value a group. Of no elements the result
/// has none either.
[[nodiscard]] Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {},
                                const Tensor& bias = {}, double epsilon = 1e-5);

/// The group norm in which every channel is a group (Ulyanov et al., "Instance Normalization",
/// 2016). Throws ValueError for channels of a single value.
[[nodiscard]] Tensor instance_norm(const Tensor& x, const Tensor& weight = {},
                                   const Tensor& bias = {}, double epsilon = 1e-5);

}  // namespace tessera
