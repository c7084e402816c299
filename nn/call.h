// Calling modules: the typed path through hooks to `forward`.
#pragma once

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/base/module_path.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn::detail {

template <class M>
const ClassInfo& class_info();

template <class A>
inline constexpr bool kIsTensor = std::is_same_v<std::remove_cvref_t<A>, Tensor>;

template <class A>
void collect(std::vector<Tensor>& tensors, const A& argument) {
  if constexpr (kIsTensor<A>) {
    tensors.push_back(argument);
  }
}

template <class A>
decltype(auto) replace(const std::vector<Tensor>& tensors, std::size_t& next, A& argument) {
  if constexpr (kIsTensor<A>) {
    static_cast<void>(argument);
    return tensors[next++];
  } else {
    return argument;
  }
}

/// Runs the forward of a module that stands where an M was declared: M's own, or, of a class that
/// derives from M, that class's.
template <class M, class... A>
auto run_forward(const Module& module, A&&... arguments) {
  using R = decltype(std::declval<const M&>().forward(std::forward<A>(arguments)...));
  if constexpr (HasOneForward<M>) {
    using Function = typename ForwardOf<decltype(&M::forward)>::Function;
    const ClassInfo& info = module.class_info();
    if (&info != &class_info<M>() && info.type != nullptr) [[unlikely]] {
      if constexpr (std::is_invocable_v<Function, const Module&, A...>) {
        return static_cast<R>(
            reinterpret_cast<Function>(info.forward)(module, std::forward<A>(arguments)...));
      } else {
        fail<TypeError>(module.class_name(), ": stands in for ", class_info<M>().name,
                        ", so that a call must name all arguments of forward");
      }
    }
  }
  return static_cast<const M&>(module).forward(std::forward<A>(arguments)...);
}

template <class M, class... A>
auto call_with_hooks(const Module& module, const ForwardHooks& hooks, A&... arguments) {
  std::vector<Tensor> tensors;
  (collect(tensors, arguments), ...);
  hooks.before(module, tensors);
  std::size_t next = 0;
  // Braces fix the order in which arguments take their tensors.
  std::tuple<decltype(replace(tensors, next, arguments))...> replaced{
      replace(tensors, next, arguments)...};
  auto output =
      std::apply([&](auto&&... given) { return run_forward<M>(module, given...); }, replaced);
  if constexpr (kIsTensor<decltype(output)>) {
    return hooks.after(module, tensors, std::move(output));
  } else {
    return output;
  }
}

/// Calls `module`, which stands where an M was declared, as the child `key`.
template <class M, class... A>
auto invoke(const Module& module, const std::string& key, A&&... arguments) {
  const ModulePathScope path(key);
  const ForwardHooks* hooks = module.forward_hooks();
  if (hooks == nullptr || is_recomputing()) [[likely]] {
    return run_forward<M>(module, std::forward<A>(arguments)...);
  }
  return call_with_hooks<M>(module, *hooks, arguments...);
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
  if constexpr (HasOneForward<M>) {
    using Forward = ForwardOf<decltype(&M::forward)>;
    info.signature = &typeid(typename Forward::Signature);
    info.forward = reinterpret_cast<void (*)()>(&Forward::template run<M>);
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
