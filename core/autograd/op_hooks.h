// Runs the hooks around a recorded op's gradient.
#pragma once

#include <span>

#include <tessera/core/autograd/node.h>

namespace tessera {

/// The gradients of the op's outputs become what the hooks on its outputs make of them.
void run_output_hooks(const OpHooks& hooks, std::span<Tensor> gradients);

/// The gradients of the op's inputs become what the hooks behind the op make of them; rows stay as
/// they are. Throws InvalidArgument for gradients that cannot be those of the inputs.
void run_op_hooks(const OpNode& node, std::span<Tensor> inputs, std::span<const Tensor> outputs);

}  // namespace tessera
