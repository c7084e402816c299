// Calls that run on each microbatch alone.
#pragma once

#include <span>
#include <vector>

#include <tessera/core/dispatch/pipeline.h>
#include <tessera/core/dispatch/split_plan.h>

namespace tessera {

/// `inputs`, with those that the plan found unmarked told where they are cut. A tensor as long as
/// the pass along the dim in which others hold samples, `zeros(x.shape())` say, has an entry a
/// sample too: it could not be used in a pass of another size otherwise.
[[nodiscard]] std::vector<Tensor> marked_inputs(std::span<const TensorRef> inputs,
                                                const SplitPlan& plan, const CallContext& context);

/// Makes the call on each microbatch's slices and joins the results: always right, never fast.
void call_by_microbatch(Call& call, const SplitPlan& plan, const CallContext& context);

}  // namespace tessera
