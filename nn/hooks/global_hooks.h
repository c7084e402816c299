// Hooks on every module of the process, for debugging and profiling. They run before a module's own
// of the same kind, even before those that were put in front.
#pragma once

#include <utility>

#include <tessera/nn/hooks/forward_hooks.h>

namespace tessera::nn::global_hooks {

[[nodiscard]] ForwardHooks& forward();

/// As Module::register_forward_pre_hook.
template <detail::PreHookLike F>
RemovableHandle register_forward_pre(F hook) {
  return forward().add(forward_pre_hook(std::move(hook)), false);
}

/// As Module::register_forward_hook.
template <detail::HookLike F>
RemovableHandle register_forward(F hook, const HookOptions& options = {}) {
  return forward().add(forward_hook(std::move(hook), options.always_call), options.prepend);
}

}  // namespace tessera::nn::global_hooks
