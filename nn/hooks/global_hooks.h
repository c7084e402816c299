// Hooks on every module of the process, for debugging and profiling. They run before a module's own
// of the same kind, even before those that were put in front.
#pragma once

#include <utility>

#include <tessera/nn/hooks/call_hooks.h>

namespace tessera::nn::global_hooks {

/// All of them.
[[nodiscard]] CallHooks& call();

/// As the functions of Module with the same names.
template <detail::PreHookLike F>
RemovableHandle register_forward_pre(F hook) {
  return call().forward.pre->add(forward_pre_hook(std::move(hook)));
}
template <detail::HookLike F>
RemovableHandle register_forward(F hook, const HookOptions& options = {}) {
  return call().forward.post->add(forward_hook(std::move(hook), options.always_call),
                                  options.prepend);
}
template <detail::HookOn<const Grads&> F>
RemovableHandle register_full_backward_pre(F hook) {
  return call().backward.pre->add(backward_pre_hook(std::move(hook)));
}
template <detail::HookOn<const Grads&, const Grads&> F>
RemovableHandle register_full_backward(F hook) {
  call().backward.refuse_legacy("global hooks");
  return call().backward.full->add(backward_hook(std::move(hook)));
}

template <detail::HookOn<const Grads&, const Grads&> F>
[[deprecated("use register_full_backward")]] RemovableHandle register_backward(F hook) {
  call().backward.refuse_full("global hooks");
  return call().backward.legacy->add(backward_hook(std::move(hook)));
}

}  // namespace tessera::nn::global_hooks
