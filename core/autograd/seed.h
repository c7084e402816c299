// The gradient that backward begins with.
#pragma once

#include <span>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// What a root counts whose seed nobody gave.
enum class SeedScale : std::uint8_t {
  one,    ///< 1 for each microbatch
  grain,  ///< as Tensor::backward says
};

/// The gradient of `root`: `seed`, or where that is undefined and the root is one number, or one
/// for each microbatch, what `scale` says; `weights` replace 1/G, one for each microbatch of the
/// pass. Throws InvalidArgument for a seed of another shape, and for none where the root has
/// several elements.
[[nodiscard]] Tensor seed_for(const Tensor& root, const Tensor& seed, SeedScale scale,
                              std::span<const double> weights = {});

/// The gradient of `loss.item()` with respect to a loss that exists once a microbatch: what each
/// counts in that mean. Undefined for other tensors. Throws InvalidArgument for a sum of losses
/// with different counts.
[[nodiscard]] Tensor seed_of_item(const Tensor& loss);

}  // namespace tessera
