// All hooks around a module's calls, and a call that runs them.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>

#include <tessera/nn/hooks/backward_hooks.h>
#include <tessera/nn/hooks/forward_hooks.h>

namespace tessera::nn {

/// The hooks of one module, or of the process. Adding any but a forward hook throws ValueError for
/// `always_call`; `who` names the owner where full and legacy backward hooks meet.
struct CallHooks {
  ForwardHooks forward;
  BackwardHooks backward;

  template <class F>
  RemovableHandle add_forward_pre(F hook, const HookOptions& options) {
    if constexpr (detail::check_pre_hook<F>()) {
      return forward.pre->add(forward_pre_hook(std::move(hook)), detail::prepends(options));
    }
    return {};
  }
  template <class F>
  RemovableHandle add_forward(F hook, const HookOptions& options) {
    if constexpr (detail::check_hook<F>()) {
      return forward.post->add(forward_hook(std::move(hook), options.always_call), options.prepend);
    }
    return {};
  }
  template <class F>
  RemovableHandle add_backward_pre(F hook, const HookOptions& options) {
    if constexpr (detail::check_backward_pre_hook<F>()) {
      return backward.pre->add(backward_pre_hook(std::move(hook)), detail::prepends(options));
    }
    return {};
  }
  template <class F>
  RemovableHandle add_backward(F hook, const HookOptions& options, const std::string& who) {
    backward.refuse_legacy(who);
    if constexpr (detail::check_backward_hook<F>()) {
      return backward.full->add(backward_hook(std::move(hook)), detail::prepends(options));
    }
    return {};
  }
  template <class F>
  RemovableHandle add_legacy(F hook, const std::string& who) {
    backward.refuse_full(who);
    if constexpr (detail::check_backward_hook<F>()) {
      return backward.legacy->add(backward_hook(std::move(hook)));
    }
    return {};
  }
  [[nodiscard]] bool empty() const noexcept { return forward.empty() && backward.empty(); }
};

/// The process's and the module's, in the order in which they run; null for none.
[[nodiscard]] std::array<const CallHooks*, 2> hooks_on(const Module& module);

/// Runs `forward` between the hooks: before it process-wide pre-hooks, then the module's own; after
/// it, in the same order, the forward hooks. Each sees what the ones before it replaced. Between
/// them inputs and outputs get the boundaries at which backward hooks run. When something throws,
/// forward hooks with `always_call` that have not run yet do, and it is rethrown.
[[nodiscard]] Value run_with_hooks(
    const Module& module, CallInputs inputs,
    const std::function<Value(const Args& args, const Kwargs& kwargs)>& forward);

namespace detail {
/// The module's own, made where there are none.
[[nodiscard]] CallHooks& own_call_hooks(Module& module);
/// Throws TypeError: `hooks`, of this kind, left what `forward` does not take or return.
[[noreturn, gnu::cold]] void fail_after_hooks(const Module& module, const char* hooks,
                                              const TypeError& error);
}  // namespace detail

}  // namespace tessera::nn
