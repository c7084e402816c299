// What a loop's body assigns to buffers behind an optimizer's step.
//
// It happens once a training step, in the last pass, and is the buffer's value at once: no mean of
// microbatches is taken. So it may not be a microbatch's, nor be assigned in the passes before, and
// ranks compare it at their next step.
#pragma once

#include <cstdint>

#include <tessera/nn/slot.h>
#include <tessera/nn/synchronizer.h>

namespace tessera::nn {

/// An optimizer took its step in the current pass, or, where not `ended`, put it off to the last.
void note_optimizer_step(bool ended);

/// Takes a write to a buffer by the loop's body behind such a step; false for any other. Throws
/// RuntimeError where the step was put off, and where `value` holds one for each microbatch.
[[nodiscard]] bool assign_behind_step(Slot& slot, const Tensor& value);

/// Names and hashes of what this thread assigned so since `forget_assigned_behind_step`.
[[nodiscard]] Facts assigned_behind_step();
void forget_assigned_behind_step();

}  // namespace tessera::nn
