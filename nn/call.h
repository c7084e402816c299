// Calling modules: the typed path through hooks to `forward`.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/base/module_path.h>
#include <tessera/nn/build/builder.h>
#include <tessera/nn/call_checks.h>
#include <tessera/nn/functional/call_state.h>
#include <tessera/nn/functional/options_scope.h>
#include <tessera/nn/hooks/global_hooks.h>
#include <tessera/nn/pack.h>
#include <tessera/nn/tracking/tracked_call.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {

template <class M>
const ClassInfo& class_info();

/// Throws, for a module that neither `make` nor Child constructed, TypeError unless it is an M, not
/// of a class that derives from it, whose own forward nothing tells.
template <class M>
void check_is_exactly(const Module& module) {
  check<TypeError>(typeid(module) == typeid(M), demangle(typeid(module).name()), ": is called as ",
                   class_info<M>().name,
                   ", and its own forward is not known; construct it with nn::make or as a Child");
}

/// Runs the forward of a module that stands where an M was declared: M's own, or, of a class that
/// derives from M, that class's, which must have the same signature.
template <class M, class... A>
auto run_forward(const Module& module, A&&... arguments) {
  using R = decltype(std::declval<const M&>().forward(std::forward<A>(arguments)...));
  if constexpr (HasOneForward<M>) {
    using Forward = ForwardOf<decltype(&M::forward)>;
    const ClassInfo& info = class_info(module);
    if (info.type == nullptr) [[unlikely]] {
      check_is_exactly<M>(module);
    } else if (&info != &class_info<M>()) [[unlikely]] {
      check<TypeError>(
          info.signature != nullptr && *info.signature == typeid(typename Forward::Signature),
          info.name, ": has another forward than ", class_info<M>().name,
          ", as which it is called");
      if constexpr (std::is_invocable_v<typename Forward::Function, const Module&, A...>) {
        return static_cast<R>(reinterpret_cast<typename Forward::Function>(info.forward)(
            module, std::forward<A>(arguments)...));
      } else {
        fail<TypeError>(module.class_name(), ": stands in for ", class_info<M>().name,
                        ", so that a call must name all arguments of forward");
      }
    }
  }
  return static_cast<const M&>(module).forward(std::forward<A>(arguments)...);
}

/// A T, as `hooks` of this kind left it. Throws TypeError naming them for any other value.
template <class T>
T unpack_from(const Module& module, const char* hooks, const Value& value) {
  try {
    return unpack<T>(value);
  } catch (const TypeError& error) {
    fail_after_hooks(module, hooks, error);
  }
}

/// An argument of type T, as hooks left it; what cannot be copied travels as a pointer.
template <class T>
decltype(auto) take_argument(const Module& module, const Args& args, const Kwargs& kwargs,
                             std::size_t& next) {
  if constexpr (std::same_as<T, Kwargs>) {
    static_cast<void>(args);
    return (kwargs);
  } else if constexpr (std::copy_constructible<T>) {
    return unpack_from<T>(module, "forward pre-hooks", args[next++]);
  } else {
    return *unpack_from<const T*>(module, "forward pre-hooks", args[next++]);
  }
}

/// How an argument of type A travels through hooks: a literal as a text, all else as it is.
template <class A>
using Carried = std::conditional_t<std::same_as<std::decay_t<const A&>, const char*>, std::string,
                                   std::decay_t<const A&>>;

template <class T>
void put_argument(CallInputs& inputs, const T& argument) {
  if constexpr (std::same_as<T, Kwargs>) {
    inputs.second = argument;
  } else if constexpr (std::copy_constructible<Carried<T>>) {
    inputs.first.push_back(pack<Carried<T>>(argument));
  } else {
    inputs.first.push_back(pack(&argument));
  }
}

/// Runs forward with arguments of the types A, taken from values.
template <class M, class... A>
auto run_on_values(const Module& module, const Args& args, const Kwargs& kwargs) {
  constexpr std::size_t kPositional = (std::size_t{!std::same_as<A, Kwargs>} + ... + 0);
  check<TypeError>(args.size() == kPositional, module.class_name(), ": forward pre-hooks left ",
                   args.size(), " arguments, expected ", kPositional);
  std::size_t next = 0;
  // Braces fix the order in which arguments are taken.
  std::tuple<decltype(take_argument<A>(module, args, kwargs, next))...> taken{
      take_argument<A>(module, args, kwargs, next)...};
  return std::apply([&](auto&&... given) { return run_forward<M>(module, given...); },
                    std::move(taken));
}

template <class M, class... A>
auto call_with_hooks(const Module& module, const A&... arguments) {
  using R = decltype(run_on_values<M, Carried<A>...>(module, Args(), Kwargs()));
  CallInputs inputs;
  (put_argument(inputs, arguments), ...);
  const Value output =
      run_with_hooks(module, std::move(inputs), [&](const Args& args, const Kwargs& kwargs) {
        return pack<R>(run_on_values<M, Carried<A>...>(module, args, kwargs));
      });
  return unpack_from<R>(module, "forward hooks", output);
}

inline bool has_hooks(const Module& module) {
  const CallHooks* own = call_hooks(module);
  return (own != nullptr && !own->empty()) || !global_hooks::call().empty();
}

/// Builds a module from what it is about to be called with.
template <class M, class... A>
void build_for_call(const Module& module, bool given_to_call, const A&... arguments) {
  CallInputs inputs;
  (put_argument(inputs, arguments), ...);
  prepare_call(
      module, inputs.first, inputs.second,
      [&](const Args& args, const Kwargs& kwargs) {
        static_cast<void>(run_on_values<M, Carried<A>...>(module, args, kwargs));
      },
      given_to_call);
}

/// Calls a module with its hooks; in a recomputation as the first run was, since hooks come and go
/// meanwhile.
template <class M, class... A>
auto call_hooked(const Module& module, const CallState& state, A&&... arguments) {
  const bool runs_hooks = state.pure == nullptr && has_hooks(module) && !is_recomputing();
  if (!read_outside(runs_hooks)) {
    return run_forward<M>(module, std::forward<A>(arguments)...);
  }
  return call_with_hooks<M>(module, arguments...);
}

/// A call that is more than forward: hooks, which pure calls leave out, a tracker, building, or a
/// checkpointed region around it.
template <class M, class... A>
auto call_watched(const Module& module, const std::string& key, const CallState& state,
                  A&&... arguments) {
  if (is_recomputing()) {
    return call_hooked<M>(module, state, std::forward<A>(arguments)...);
  }
  const bool builds = !build_state_of(module).ready;
  if (builds) {
    build_for_call<M>(module, false, arguments...);
  }
  std::optional<TrackedCall> tracked;
  if (state.tracker != nullptr) {
    tracked.emplace(*state.tracker, module, key);
  }
  auto result = call_hooked<M>(module, state, std::forward<A>(arguments)...);
  if (tracked) {
    tracked->returned(pack(result));
  }
  if (builds) {
    finish_call(module);
  }
  return result;
}

/// Number of the first argument that is an undefined tensor, from 1; 0 where none is.
template <class... A>
std::size_t undefined_argument(const A&... arguments) {
  std::size_t number = 0;
  std::size_t found = 0;
  const auto look = [&](const auto& argument) {
    ++number;
    if constexpr (std::same_as<std::decay_t<decltype(argument)>, Tensor>) {
      found = found == 0 && !argument.defined() ? number : found;
    }
  };
  (look(arguments), ...);
  return found;
}

/// Throws MissingTensor naming the running module and the argument `number` of its forward, which
/// is undefined, where `error` says that a tensor is missing, or the module could not be built;
/// returns otherwise, and where `number` is 0.
void explain_undefined(const Module& module, std::size_t number, const Error& error);

template <class M, class... A>
auto invoke_here(const Module& module, const std::string& key, A&&... arguments) {
  const CallState& state = CallState::current();
  const bool plain = !has_hooks(module) && state.tracker == nullptr && build_state_of(module).ready;
  if (plain && Modes::current().outside_reads == nullptr) [[likely]] {
    return run_forward<M>(module, std::forward<A>(arguments)...);
  }
  return call_watched<M>(module, key, state, std::forward<A>(arguments)...);
}

/// Calls `module`, which stands where an M was declared, as the child `key`.
template <class M, class... A>
auto invoke(const Module& module, const std::string& key, A&&... arguments) {
  const ModulePathScope path(key);
  const std::size_t undefined = undefined_argument(arguments...);  // forward may move from them
  try {
    return invoke_here<M>(module, key, std::forward<A>(arguments)...);
  } catch (const Error& error) {
    explain_undefined(module, undefined, error);
    throw;
  }
}

template <class... A>
inline constexpr bool kEndsWithOptions = false;
template <class Last>
inline constexpr bool kEndsWithOptions<Last> = std::same_as<std::remove_cvref_t<Last>, CallOptions>;
template <class First, class Second, class... Rest>
inline constexpr bool kEndsWithOptions<First, Second, Rest...> = kEndsWithOptions<Second, Rest...>;

/// `take(options, the other arguments...)` for arguments that end in CallOptions.
template <class Take, class... A>
decltype(auto) split_options(const Take& take, A&&... arguments) {
  const auto all = std::forward_as_tuple(std::forward<A>(arguments)...);
  constexpr std::size_t kCount = sizeof...(A) - 1;
  return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    return take(std::get<kCount>(all), std::get<I>(all)...);
  }
  (std::make_index_sequence<kCount>());
}

/// Calls as `invoke` does; the last argument may be CallOptions.
template <class M, class... A>
auto invoke_with_options(const Module& module, const std::string& key, A&&... arguments) {
  if constexpr (kEndsWithOptions<A...>) {
    return split_options(
        [&](const CallOptions& options, auto&&... own) {
          if constexpr (check_call<M, decltype(own)...>()) {
            if (!build_state_of(module).ready) {  // options name what building makes
              build_for_call<M>(module, true, own...);
            }
            OptionsScope scope(module, options);
            auto result = invoke<M>(module, key, std::forward<decltype(own)>(own)...);
            scope.finish();
            return result;
          } else {
            return AnyResult();
          }
        },
        std::forward<A>(arguments)...);
  } else if constexpr (check_call<M, A...>()) {
    return invoke<M>(module, key, std::forward<A>(arguments)...);
  } else {
    return AnyResult();
  }
}

template <class M>
ClassInfo describe() {
  ClassInfo info{
      .name = demangle(typeid(M).name()), .type = &typeid(M), .is_instance = [](const Module& m) {
        return dynamic_cast<const M*>(&m) != nullptr;
      }};
  if constexpr (requires(const M& m, const Tensor& x) {
                  { m.forward(x) } -> std::convertible_to<Tensor>;
                }) {
    info.call = [](const Module& m, const std::string& key, const Tensor& x) -> Tensor {
      return invoke<M>(m, key, x);
    };
  }
  if constexpr (has_const_forward<M>()) {
    using Forward = ForwardOf<decltype(&M::forward)>;
    info.signature = &typeid(typename Forward::Signature);
    info.forward = reinterpret_cast<void (*)()>(&Forward::template run<M>);
  }
  if constexpr (std::is_copy_constructible_v<M>) {
    info.copy = [](const Module& m) -> std::shared_ptr<Module> {
      return std::make_shared<M>(static_cast<const M&>(m));
    };
  }
  return info;
}

template <class M>
inline const ClassInfo kClassInfo = describe<M>();

template <class M>
const ClassInfo& class_info() {
  return kClassInfo<M>;
}

}  // namespace tessera::nn::detail
