// What a mean whose denominator the data decide has counted.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/base/ref.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// The counts of a loss that is a mean over counted elements, shared by all tensors that were
/// computed from it. See "Means over what counts" in docs/determinism.md.
struct LossCounts : RefCounted {
  const char* loss = "";        ///< what made it, a literal
  Tensor values;                ///< f64: the denominator of each microbatch, () or (microbatches)
  double elements = 0;          ///< of a microbatch, by shape
  const char* other = nullptr;  ///< a loss with other counts that was combined with it
};

/// Marks `loss`, a number or one a microbatch, as a mean whose denominators are `counted`, in the
/// loss's shape; `elements` is the denominator of a microbatch in which everything counts, `over`
/// how the microbatches' losses become the batch's: by their mean, unless what is averaged was
/// computed of other numbers once a microbatch. Does nothing on the meta device.
void attach_counts(const Tensor& loss, const char* name, const Tensor& counted,
                   std::int64_t elements, OverPass over = OverPass::mean);

/// The counts that `x` carries; null for a plain tensor.
[[nodiscard]] const LossCounts* counts_of(const Tensor& x);

/// The counts as numbers, one a microbatch. Throws InvalidArgument naming `op` and both losses
/// where two with different counts were combined.
[[nodiscard]] std::vector<double> read_counts(const char* op, const LossCounts& counts);

/// The mean over all microbatches from the mean of each: by `counts`, one a microbatch, or by equal
/// weights where there are none or all are equal. Sums go along the tree. 0 where nothing counted.
[[nodiscard]] double mean_by_counts(std::vector<double> means, std::vector<double> counts);

}  // namespace tessera
