// Modules as pure functions: what a call gives, and the module that it leaves, without any change
// to the module that is called.
//
//   auto [y, next] = nn::call_and_update(model, x);
//   Tensor z = nn::call(model, x, nn::CallOptions{.training = false, .key = nn::RandomKey{1, 2}});
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/tensor/modes.h>
#include <tessera/nn/functional/capture_frame.h>
#include <tessera/nn/functional/pure_scope.h>
#include <tessera/nn/make.h>

namespace tessera::nn {

namespace detail {

template <class M>
Ptr<M> as_typed(const ModulePtr& module) {
  return Ptr<M>(std::static_pointer_cast<M>(module));
}

/// Runs `take(scope, result)` after a pure call; the last argument may be CallOptions.
template <class M, class Take, class... A>
auto call_pure(const Ptr<M>& module, const Take& take, A&&... arguments) {
  if constexpr (kEndsWithOptions<A...>) {
    return split_options(
        [&](const CallOptions& options, auto&&... own) {
          PureScope scope(*module, options);
          auto result = invoke<M>(*module, key(*module), std::forward<decltype(own)>(own)...);
          scope.finish();
          return take(scope, std::move(result));
        },
        std::forward<A>(arguments)...);
  } else {
    return call_pure(module, take, std::forward<A>(arguments)..., CallOptions{});
  }
}

/// Whether a call is one of those of Module, which a class may override: a tensor in, one out.
template <class M, class... A>
inline constexpr bool kOfModule = false;
template <class M, class A>
requires requires(const M& m, const Tensor& x) {
  { m.forward(x) } -> std::same_as<Tensor>;
}
inline constexpr bool kOfModule<M, A> = std::same_as<std::remove_cvref_t<A>, Tensor>;

}  // namespace detail

// On one tensor, without options, these are the functions of Module, as its class overrides them.

/// What forward returns. No hook runs, and nothing is changed: two calls are equal. Throws
/// ValueError when forward draws random numbers and no key is given, or assigns to a module outside
/// this one, and RuntimeError when it writes to the module's tensors in place.
template <class M, class... A>
[[nodiscard]] auto call(const Ptr<M>& module, A&&... arguments) {
  if constexpr (detail::kOfModule<M, A...>) {
    return static_cast<const Module&>(*module).call(arguments...);
  } else {
    return detail::call_pure(
        module, [](PureScope&, auto result) { return result; }, std::forward<A>(arguments)...);
  }
}

/// The module with what forward assigned; in a pass of several microbatches, each of which sees its
/// own, with the mean of that. Everything else is shared with the old one.
template <class M, class... A>
[[nodiscard]] Ptr<M> update(const Ptr<M>& module, A&&... arguments) {
  if constexpr (detail::kOfModule<M, A...>) {
    return detail::as_typed<M>(static_cast<const Module&>(*module).update(arguments...));
  } else {
    return detail::call_pure(
        module, [](PureScope& scope, const auto&) { return detail::as_typed<M>(scope.updated()); },
        std::forward<A>(arguments)...);
  }
}

/// The result and the module after the call.
template <class M, class... A>
[[nodiscard]] auto call_and_update(const Ptr<M>& module, A&&... arguments) {
  if constexpr (detail::kOfModule<M, A...>) {
    auto [y, next] = static_cast<const Module&>(*module).call_and_update(arguments...);
    return std::pair(std::move(y), detail::as_typed<M>(next));
  } else {
    return detail::call_pure(
        module,
        [](PureScope& scope, auto result) {
          return std::pair(std::move(result), detail::as_typed<M>(scope.updated()));
        },
        std::forward<A>(arguments)...);
  }
}

/// Modules side by side: all get the same arguments, and the results make a tuple.
template <class... M, class... A>
[[nodiscard]] auto call_and_update(const std::tuple<Ptr<M>...>& modules, A&&... arguments) {
  return std::apply(
      [&](const Ptr<M>&... module) {
        // Braces fix the order of the calls; the types keep a single pair from becoming the tuple.
        std::tuple<decltype(call_and_update(module, arguments...))...> both{
            call_and_update(module, arguments...)...};
        return std::apply(
            [](auto&... part) {
              return std::pair(std::make_tuple(std::move(part.first)...),
                               std::make_tuple(std::move(part.second)...));
            },
            both);
      },
      modules);
}
template <class... M, class... A>
[[nodiscard]] auto call(const std::tuple<Ptr<M>...>& modules, A&&... arguments) {
  return call_and_update(modules, arguments...).first;
}
template <class... M, class... A>
[[nodiscard]] auto update(const std::tuple<Ptr<M>...>& modules, A&&... arguments) {
  return call_and_update(modules, arguments...).second;
}

/// Modules one after another: each gets what the one before returned.
template <class M>
[[nodiscard]] auto call_and_update(const std::vector<Ptr<M>>& modules, Tensor x) {
  std::vector<Ptr<M>> next;
  for (const Ptr<M>& module : modules) {
    auto [y, updated] = call_and_update(module, x);
    x = std::move(y);
    next.push_back(std::move(updated));
  }
  return std::pair(std::move(x), std::move(next));
}
template <class M>
[[nodiscard]] Tensor call(const std::vector<Ptr<M>>& modules, const Tensor& x) {
  return call_and_update(modules, x).first;
}
template <class M>
[[nodiscard]] auto update(const std::vector<Ptr<M>>& modules, const Tensor& x) {
  return call_and_update(modules, x).second;
}

/// What a loss is, how it changes with the module, and the module that computing it left.
template <class M>
struct ValueAndGrad {
  Tensor value;     ///< detached
  Variables grads;  ///< as `Module::variables`: zeros where there is no influence, no value for
                    ///< buffers and frozen parameters
  Ptr<M> updated;   ///< with what forward assigned, such as running statistics
};

/// `loss(model)`, a number, and its gradient with respect to every parameter of `model`. In a pass
/// of several microbatches the value exists once for each, and the gradient is that of its
/// `item()`, the mean of the pass by what counts, or its sum. Hooks run; nothing of the module is
/// changed, gradients of its parameters included.
///
///   auto [value, grads, next] = nn::value_and_grad([&](const auto& m) { return f(m(x)); }, model);
template <class M, class F>
[[nodiscard]] ValueAndGrad<M> value_and_grad(const F& loss, const Ptr<M>& model) {
  LeavesFrame frame(*model);
  Tensor value;
  {
    const FrameScope scope(frame);
    const EnableGradGuard recorded;
    value = loss(model);
  }
  Variables grads = frame.gradients(value);
  return {value.detach(), std::move(grads), detail::as_typed<M>(frame.updated(true))};
}

/// A copy with its own memory; see Module::clone.
template <class M>
[[nodiscard]] Ptr<M> clone(const Ptr<M>& module) {
  return detail::as_typed<M>(module->clone());
}

}  // namespace tessera::nn
