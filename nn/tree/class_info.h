// What a module's base class knows of the class that it is.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

class Module;

/// One per class of modules, made at compile time and recorded when a module is constructed by
/// `make` or as a Child.
struct ClassInfo {
  std::string name;                              ///< without namespaces and template arguments
  const std::type_info* type = nullptr;          ///< null: not made by `make` or as a Child
  bool (*is_instance)(const Module&) = nullptr;  ///< of this class or one derived from it
  /// A copy, inside a CopyScope (nn/tree/copying.h); null when the class has no copy constructor.
  std::shared_ptr<Module> (*copy)(const Module&) = nullptr;
  /// Calls forward with one tensor, through the hooks; null when it takes something else.
  Tensor (*call)(const Module&, const std::string& name, const Tensor&) = nullptr;
  /// The type R(A...) of forward, and `R (*)(const Module&, A...)`, which runs it; null when there
  /// is none, or several.
  const std::type_info* signature = nullptr;
  void (*forward)() = nullptr;

  /// Whether a member declared as this class can hold `module`: it is of the class, or derives from
  /// it with a forward of the same signature, which can be run in its place because `make` or Child
  /// constructed it.
  [[nodiscard]] bool can_hold(const Module& module) const;
};

namespace detail {

/// The type of a forward, and a function that runs it on a module known to be an Exact.
template <class F>
struct ForwardOf;
template <class M, class R, class... A>
struct ForwardOf<R (M::*)(A...) const> {
  using Signature = R(A...);
  using Function = R (*)(const Module&, A...);
  template <class Exact>
  static R run(const Module& module, A... arguments) {
    return static_cast<const Exact&>(module).forward(std::forward<A>(arguments)...);
  }
};
template <class M, class R, class... A>
struct ForwardOf<R (M::*)(A...) const noexcept> : ForwardOf<R (M::*)(A...) const> {};

template <class M>
concept HasOneForward = requires {
  &M::forward;
};

/// The name of a type without namespaces and template arguments, and with them.
std::string demangle(const char* name);
std::string demangle_whole(const char* name);

}  // namespace detail

}  // namespace tessera::nn
