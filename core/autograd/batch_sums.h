// Gradients of a leaf that ops sum over the samples, put off until the last use has come.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// One use of a leaf: its gradient is what `op` makes of `inputs`, all of which hold the samples
/// along dim 0 and over which `op` sums.
struct BatchSumUse {
  BatchSumUse(const OpDef& sum, std::span<const TensorRef> of, const void* attributes);

  const OpDef* op;
  std::unique_ptr<AttrsBox> attrs;
  std::vector<Tensor> inputs;
};

/// True where the uses of a parameter of `weights` elements are better summed together. That copies
/// the samples of a use; sums by themselves write and read the gradient of each microbatch once
/// more. `inputs`, of one use, are compared by what a microbatch has of them, so that its way is
/// the same however many share a pass.
[[nodiscard]] bool are_summed_together(std::span<const Tensor> inputs, std::int64_t weights);

/// The gradients of `uses`, one for each kind of use, in the order in which kinds came first. Uses
/// are of one kind when op, attributes and the shapes of a sample agree. Within each microbatch
/// their samples are put one behind the other, in the order of the uses, and summed at once: a sum
/// of several uses costs what one of as many samples costs. A kind that is `alone` is
/// added up over microbatches too, into `destination` where that is defined.
[[nodiscard]] std::vector<Tensor> sum_uses(std::span<const BatchSumUse> uses, bool alone,
                                           const Tensor& destination);

}  // namespace tessera
