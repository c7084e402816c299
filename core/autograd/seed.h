// The gradient that backward begins with.
#pragma once

#include <span>
#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// What a root counts whose seed nobody gave.
enum class SeedScale : std::uint8_t {
  one,    ///< 1 for each microbatch
  grain,  ///< as Tensor::backward says
};

/// The gradient of `root`: where that is one number, or one for each microbatch, what `scale` says,
/// times `seed` where that is defined; `weights` replace 1/G, one for each microbatch of the pass.
/// For a root of several elements it is `seed` itself. Throws InvalidArgument for a seed of another
/// shape, and for none where the root has several elements; Unsupported for a loss of a batch
/// behind its loop that is no mean or sum.
[[nodiscard]] Tensor seed_for(const Tensor& root, const Tensor& seed, SeedScale scale,
                              std::span<const double> weights = {});

/// True where `seed_for` weighs `root`, whose seed is `seed`: it is a loss.
[[nodiscard]] bool is_weighed(const Tensor& root, const Tensor& seed);

/// The gradient of `loss.item()` with respect to a loss that exists once a microbatch: what each
/// counts in that mean. Undefined for other tensors. Throws InvalidArgument for a sum of losses
/// with different counts.
[[nodiscard]] Tensor seed_of_item(const Tensor& loss);

/// The roots of a backward with these seeds. Beside a loss that weighs microbatches one that exists
/// once, a penalty say, has a part in each, as it has where it is added to the loss.
[[nodiscard]] std::vector<Tensor> roots_of_pass(std::span<const Tensor> roots,
                                                std::span<const Tensor> seeds);

}  // namespace tessera
