// What becomes of the ranks' sums of gradients.
#pragma once

#include <span>

#include <tessera/core/autograd/gradient_scale.h>
#include <tessera/dist/parallel/reduced_parameter.h>
#include <tessera/dist/parallel/used_parameters.h>

namespace tessera::dist {

/// Keeps what earlier backwards of the step brought to `parameter` and its memory is about to lose.
void keep_gradient(ReducedParameter& parameter);

/// Gives back what was before: the backward threw.
void restore_gradient(ReducedParameter& parameter);
/// Forgets what was kept, where `finish_gradients` has used it: the backward is over.
void settle_gradient(ReducedParameter& parameter);

/// Makes the sums `grad`: means over the global batch by `scale`, as the hooks on the parameters
/// leave them, added to what `keep_gradient` kept. A parameter that no rank used has no gradient
/// and is left untouched. Where a hook throws, `restore_gradient` brings back what was.
void finish_gradients(std::span<ReducedParameter> parameters, const UsedParameters& table,
                      GradientScale scale);

}  // namespace tessera::dist
