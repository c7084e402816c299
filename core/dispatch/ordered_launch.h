// Launching a kernel where streams other than the inline one are in play.
#pragma once

#include <span>

#include <tessera/core/device/stream.h>
#include <tessera/core/dispatch/op.h>

namespace tessera {

/// True when a kernel on `operands` cannot simply be called: the thread's ops go to a worker
/// stream, or some worker stream has touched an operand.
[[nodiscard]] inline bool needs_order(std::span<TensorImpl* const> inputs,
                                      std::span<TensorImpl* const> outputs) noexcept {
  const auto touched = [](const TensorImpl* x) {
    return x != nullptr && x->storage && x->storage->sync() != nullptr;
  };
  bool any = detail::worker_stream != nullptr;
  for (const TensorImpl* x : inputs) {
    any |= touched(x);
  }
  for (const TensorImpl* y : outputs) {
    any |= touched(y);
  }
  return any;
}

/// Gives `kernel` to the thread's current stream, ordered after what its operands must wait for.
/// Its operands' memory and a copy of `attrs` live until it ran. See Note [Hazards].
void launch_ordered(const OpDef& op, const Kernel& kernel, const void* attrs);

}  // namespace tessera
