// What is assigned to buffers once a training step: by a loop's body behind an optimizer's step,
// and by hooks on the gradients of parameters.
//
// It happens in the last pass, and is the buffer's value at once: no mean of microbatches is taken.
// So it may not be a microbatch's, nor be assigned in the passes before, and ranks compare it at
// their next step.
#pragma once

#include <cstdint>

#include <tessera/nn/ownership.h>
#include <tessera/nn/slot.h>

namespace tessera::nn {

/// An optimizer took its step in the current pass, or, where not `ended`, put it off to the last.
void note_optimizer_step(bool ended);

/// Takes a write to a buffer by the loop's body behind such a step, or by a hook on a parameter's
/// gradient; false for any other, and where `value` holds one for each microbatch, behind one
/// optimizer's step and in front of another's say. Throws RuntimeError where the step was put off,
/// and in a hook where the buffer or the value is the microbatches'.
[[nodiscard]] bool assign_behind_step(Slot& slot, const Tensor& value);

/// True where an optimizer ended its step in the current pass.
[[nodiscard]] bool step_has_ended();

/// Names and hashes of what this thread assigned so since `forget_assigned_behind_step`.
[[nodiscard]] Facts assigned_behind_step();
[[nodiscard]] std::uint64_t hash_of_assigned(const Facts& assigned);
void forget_assigned_behind_step();

}  // namespace tessera::nn
