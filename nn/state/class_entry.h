// What is known of a class of modules that bytes can hold.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <tessera/nn/make.h>
#include <tessera/nn/state/arguments.h>

namespace tessera::nn {

/// Makes a module, with `make`, from its config.
using ModuleFactory = std::function<ModulePtr(const Value& config)>;

}  // namespace tessera::nn

namespace tessera::nn::detail {

struct ClassEntry {
  std::string name;
  const std::type_info* type = nullptr;
  ModuleFactory make;
  Value (*config)(const Module& module) = nullptr;
};

/// What `arguments()` gives; nothing for a class without it.
auto arguments_of(const auto& module) {
  if constexpr (requires { module.arguments(); }) {
    return module.arguments();
  } else {
    return std::tuple<>();
  }
}
template <class M>
using ArgumentsOf = decltype(arguments_of(std::declval<const M&>()));

template <class M, class Arguments>
inline constexpr bool kTakes = false;
template <class M, class... A>
inline constexpr bool kTakes<M, std::tuple<A...>> = std::is_constructible_v<M, const A&...>;

/// A class whose constructor takes what its `arguments()` gives, or takes nothing.
template <class M>
concept TakesItsArguments = std::derived_from<M, Module> && kTakes<M, ArgumentsOf<M>>;

template <TakesItsArguments M>
Value write_arguments(const Module& module) {
  return Argument<ArgumentsOf<M>>::write(arguments_of(static_cast<const M&>(module)));
}

template <TakesItsArguments M>
ModulePtr make_from(const Value& config) {
  return std::apply([](const auto&... arguments) -> ModulePtr { return make<M>(arguments...); },
                    Argument<ArgumentsOf<M>>::read(config));
}

template <TakesItsArguments M>
ClassEntry class_entry(const std::string& name) {
  return {name, &typeid(M), make_from<M>, write_arguments<M>};
}

/// Throws KeyError for a name or class that is there already.
void register_class(ClassEntry entry);

}  // namespace tessera::nn::detail
