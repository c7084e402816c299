// Calling modules: the typed path through hooks to `forward`, and the handles that take it.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tessera/core/base/module_path.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

namespace detail {

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

template <class M, class... A>
auto call_with_hooks(const M& module, const ForwardHooks& hooks, A&... arguments) {
  std::vector<Tensor> tensors;
  (collect(tensors, arguments), ...);
  hooks.before(module, tensors);
  std::size_t next = 0;
  // Braces fix the order in which arguments take their tensors.
  std::tuple<decltype(replace(tensors, next, arguments))...> replaced{
      replace(tensors, next, arguments)...};
  auto output = std::apply([&](auto&&... given) { return module.forward(given...); }, replaced);
  if constexpr (kIsTensor<decltype(output)>) {
    return hooks.after(module, tensors, std::move(output));
  } else {
    return output;
  }
}

/// True while activation checkpointing repeats a forward, which fires no hooks.
bool hooks_are_off();

template <class M, class... A>
auto invoke(const M& module, A&&... arguments) {
  const ModulePathScope path(module.name());
  const ForwardHooks* hooks = module.forward_hooks();
  if (hooks == nullptr || hooks_are_off()) [[likely]] {
    return module.forward(std::forward<A>(arguments)...);
  }
  return call_with_hooks(module, *hooks, arguments...);
}

std::string demangle(const char* name);

/// Teaches the base class what only the exact type knows.
template <class M>
void describe(M& module) {
  Module::Thunk thunk = nullptr;
  if constexpr (requires(const M& m, const Tensor& x) {
                  { m.forward(x) } -> std::convertible_to<Tensor>;
                }) {
    thunk = [](const Module& m, const Tensor& x) -> Tensor {
      return invoke(static_cast<const M&>(m), x);
    };
  }
  module.describe(demangle(typeid(M).name()), thunk);
}

/// Depth of the models under construction on this thread.
class Construction {
 public:
  Construction();
  ~Construction();
  [[nodiscard]] bool outermost() const;
};

}  // namespace detail

/// Shared handle on a module that is called like a function.
template <class M>
class Ptr : public std::shared_ptr<M> {
 public:
  using std::shared_ptr<M>::shared_ptr;
  Ptr(std::shared_ptr<M> module) : std::shared_ptr<M>(std::move(module)) {}

  template <class... A>
  auto operator()(A&&... arguments) const {
    return detail::invoke(**this, std::forward<A>(arguments)...);
  }
};

/// Constructs a model and gives its parameters their values, which follow from the seed, the number
/// of models made since, and the parameters' names. Arguments go to M's constructor.
template <std::derived_from<Module> M, class... A>
Ptr<M> make(A&&... arguments) {
  std::shared_ptr<M> module;
  const detail::Construction construction;
  module = std::make_shared<M>(std::forward<A>(arguments)...);
  detail::describe(*module);
  if (construction.outermost()) {
    module->materialize();
  }
  return module;
}

/// A member that is itself a module: `nn::Child<nn::Linear> fc{this, "fc", 4, 8};` constructs and
/// registers it. Called like a function with exactly M's forward.
template <std::derived_from<Module> M>
class Child {
 public:
  template <class... A>
  Child(Module* owner, std::string_view name, A&&... arguments)
      : module_(std::make_shared<M>(std::forward<A>(arguments)...)) {
    detail::describe(*module_);
    owner->register_child(name, module_);
  }

  template <class... A>
  auto operator()(A&&... arguments) const {
    return detail::invoke(*module_, std::forward<A>(arguments)...);
  }
  M* operator->() const { return module_.get(); }
  M& operator*() const { return *module_; }
  [[nodiscard]] const std::shared_ptr<M>& ptr() const { return module_; }

 private:
  std::shared_ptr<M> module_;
};

}  // namespace tessera::nn
