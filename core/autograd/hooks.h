// Hooks on gradients.
#pragma once

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/base/hook_list.h>

namespace tessera {

/// Calls `hook` with the gradient of `x` each time one is computed; what it returns replaces the
/// gradient, undefined keeps it; it may not write to what it is given, which may be the gradient of
/// other tensors too. `x` may be a leaf or computed; hooks run in registration order.
/// Those of a leaf see the training step's gradient: the mean over the global batch, in the last
/// pass of a step of several. Of other parameters they may see what an earlier step left.
/// Throws InvalidArgument when `x` requires no gradient.
RemovableHandle register_gradient_hook(const Tensor& x, GradientHook hook);

/// Calls `hook` each time the gradients of the inputs of the op that computed `x` are there; what
/// it returns replaces them. Throws InvalidArgument when no recorded op computed `x`.
RemovableHandle register_op_hook(const Tensor& x, OpHook hook);

/// Calls `hook` once per backward that reaches the leaf `x`, in every pass of a step, after the
/// pass's last contribution to its gradient; with data parallel the ranks' sum is still under way
/// then. The hook must not block: it enqueues and returns.
RemovableHandle register_ready_hook(const Tensor& x, ReadyHook hook);

/// Makes `to`, a leaf that takes the place of the leaf `from`, have its hooks; handles on them stay
/// valid.
void share_hooks(const Tensor& from, const Tensor& to);

}  // namespace tessera
