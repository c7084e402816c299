// Hooks around a module's forward.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <tessera/core/base/hook_list.h>
#include <tessera/nn/value.h>

namespace tessera::nn {

class Module;

struct HookOptions {
  bool prepend = false;      ///< before the module's other hooks of the kind
  bool always_call = false;  ///< for forward hooks alone: also when the call throws
};

/// What a call is given, as hooks see and replace it.
using CallInputs = std::pair<Args, Kwargs>;

/// Runs before forward; what it returns replaces the arguments.
using ForwardPreHook =
    std::function<std::optional<CallInputs>(const Module&, const Args&, const Kwargs&)>;

/// Runs after forward; what it returns replaces the output. With `always_call` also when the call
/// throws: then the output is what there is so far, or nothing, and what the hook throws or returns
/// is dropped.
struct ForwardHook {
  std::function<std::optional<Value>(const Module&, const Args&, const Kwargs&, const Value&)> run;
  bool always_call = false;
};

namespace detail {

/// What a pre-hook may return: nothing, one argument, or all of them.
template <class R>
std::optional<CallInputs> as_inputs(R&& returned, const Kwargs& kwargs) {
  using T = std::remove_cvref_t<R>;
  if constexpr (std::same_as<T, Args>) {
    return CallInputs{std::forward<R>(returned), kwargs};
  } else if constexpr (std::convertible_to<R, Value>) {
    return CallInputs{Args{Value(std::forward<R>(returned))}, kwargs};
  } else {  // optional of one of these
    return returned ? as_inputs(*std::forward<R>(returned), kwargs) : std::nullopt;
  }
}

/// What a pre-hook that sees kwargs may return: nothing, or the pair, as such or as a list of two
/// values. Throws RuntimeError for anything else.
[[nodiscard]] std::optional<CallInputs> both_of(const Value& returned);
template <class R>
std::optional<CallInputs> as_both_inputs(R&& returned) {
  if constexpr (std::convertible_to<R, std::optional<CallInputs>>) {
    return std::forward<R>(returned);
  } else if constexpr (std::convertible_to<R, Value>) {
    return both_of(Value(std::forward<R>(returned)));
  } else {  // optional of a value
    return returned ? both_of(Value(*std::forward<R>(returned))) : std::nullopt;
  }
}

/// What the options of hooks other than forward hooks come to. Throws ValueError for `always_call`.
[[nodiscard]] inline bool prepends(const HookOptions& options) {
  check<ValueError>(!options.always_call,
                    "hooks: always_call is for forward hooks; got it for "
                    "another kind");
  return options.prepend;
}

template <class F, class... A>
concept HookOn = std::invocable<const F&, const Module&, A...>;

template <class F>
concept PreHookLike = HookOn<F, const Args&> || HookOn<F, const Args&, const Kwargs&>;
template <class F>
concept HookLike =
    HookOn<F, const Args&, const Value&> || HookOn<F, const Args&, const Kwargs&, const Value&>;

/// True for hooks of the kind; else a static assertion says how they are called.
template <class F>
constexpr bool check_pre_hook() {
  constexpr bool kFits = PreHookLike<F>;  // compilers explain a concept at length
  static_assert(kFits,
                "the hook cannot be called with (const nn::Module&, const nn::Args&), nor with "
                "(const nn::Module&, const nn::Args&, const nn::Kwargs&)");
  return kFits;
}
template <class F>
constexpr bool check_hook() {
  constexpr bool kFits = HookLike<F>;  // compilers explain a concept at length
  static_assert(kFits,
                "the hook cannot be called with (const nn::Module&, const nn::Args&, const "
                "nn::Value& output), nor with nn::Kwargs before the output");
  return kFits;
}

/// Runs `call` and makes `convert` of what it returns, or nothing where it returns nothing.
template <class T, class Call, class Convert>
std::optional<T> optionally(const Call& call, const Convert& convert) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return std::nullopt;
  } else {
    return convert(call());
  }
}

}  // namespace detail

/// A hook (module, args) that returns nothing, a tensor or value (the only argument), Args, or an
/// optional of one of these; or a hook (module, args, kwargs) that returns nothing, the pair of
/// Args and Kwargs, or an optional of it. What the second returns besides is an error of the call.
template <detail::PreHookLike F>
ForwardPreHook forward_pre_hook(F hook) {
  return [hook = std::move(hook)](const Module& module, const Args& args, const Kwargs& kwargs) {
    if constexpr (detail::HookOn<F, const Args&>) {
      return detail::optionally<CallInputs>(
          [&] { return hook(module, args); },
          [&](auto&& r) { return detail::as_inputs(std::forward<decltype(r)>(r), kwargs); });
    } else {
      return detail::optionally<CallInputs>(
          [&] { return hook(module, args, kwargs); },
          [](auto&& r) { return detail::as_both_inputs(std::forward<decltype(r)>(r)); });
    }
  };
}

/// A hook of either shape, (module, args, output) or (module, args, kwargs, output), that returns
/// nothing, the new output, or an optional of it.
template <detail::HookLike F>
ForwardHook forward_hook(F hook, bool always_call) {
  return {[hook = std::move(hook)](const Module& module, const Args& args, const Kwargs& kwargs,
                                   const Value& output) {
            const auto call = [&] {
              if constexpr (detail::HookOn<F, const Args&, const Value&>) {
                return hook(module, args, output);
              } else {
                return hook(module, args, kwargs, output);
              }
            };
            return detail::optionally<Value>(call, [](auto&& r) {
              if constexpr (std::convertible_to<decltype(r), Value>) {
                return std::optional<Value>(std::forward<decltype(r)>(r));
              } else {
                return r ? std::optional<Value>(*std::forward<decltype(r)>(r)) : std::nullopt;
              }
            });
          },
          always_call};
}

/// The forward hooks of one module, or of the process.
struct ForwardHooks {
  std::shared_ptr<HookList<ForwardPreHook>> pre = std::make_shared<HookList<ForwardPreHook>>();
  std::shared_ptr<HookList<ForwardHook>> post = std::make_shared<HookList<ForwardHook>>();

  [[nodiscard]] bool empty() const noexcept { return pre->empty() && post->empty(); }
};

}  // namespace tessera::nn
