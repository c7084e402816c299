// Hooks on every module of the process, for debugging and profiling. They run before a module's own
// of the same kind, even before those that were put in front.
#pragma once

#include <utility>

#include <tessera/nn/hooks/call_hooks.h>

namespace tessera::nn::global_hooks {

/// All of them.
[[nodiscard]] CallHooks& call();

/// Registers a hook at the calls of all modules, as Module's function of this name does at one's.
RemovableHandle register_forward_pre(auto hook, const HookOptions& options = {}) {
  return call().add_forward_pre(std::move(hook), options);
}
RemovableHandle register_forward(auto hook, const HookOptions& options = {}) {
  return call().add_forward(std::move(hook), options);
}
RemovableHandle register_full_backward_pre(auto hook, const HookOptions& options = {}) {
  return call().add_backward_pre(std::move(hook), options);
}
RemovableHandle register_full_backward(auto hook, const HookOptions& options = {}) {
  return call().add_backward(std::move(hook), options, "global hooks");
}

template <class F>
[[deprecated("use register_full_backward")]] RemovableHandle register_backward(F hook) {
  return call().add_legacy(std::move(hook), "global hooks");
}

}  // namespace tessera::nn::global_hooks
