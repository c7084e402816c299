// Launching a kernel where streams other than the host's are in play.
#pragma once

#include <span>

#include <tessera/core/device/backend.h>
#include <tessera/core/dispatch/op.h>

namespace tessera {

/// True when a kernel on these operands cannot simply be called: it runs on another device's
/// stream, or one has work on an operand.
[[nodiscard]] inline bool needs_order(std::span<TensorImpl* const> inputs,
                                      std::span<TensorImpl* const> outputs) noexcept {
  bool any = !outputs[0]->device.is_cpu();
  for (const TensorImpl* x : inputs) {
    any |= x != nullptr && x->storage && x->storage->has_hazards();
  }
  for (const TensorImpl* y : outputs) {
    any |= y->storage->has_hazards();
  }
  return any;
}

/// Gives `kernel` to the current stream of its outputs' device, behind what its operands must wait
/// for. See Note [Hazards]. Throws Unsupported where that device has no kernel of the op.
void launch_ordered(const OpDef& op, Kernel& kernel, const void* attrs);

}  // namespace tessera
