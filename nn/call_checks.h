// What is wrong with a class of modules or with a call of one, said in words while it is compiled.
//
// A function here is false where a static assertion of its own has failed, so that its caller can
// leave out what would only repeat the error in the compiler's words.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tessera/nn/tree/class_info.h>

namespace tessera::nn::detail {

/// Stands for the result of a call that does not compile: whatever is made of it is no new error.
struct AnyResult {
  template <class T>
  operator T() const;
};

/// Depends on a template's arguments, so that an assertion fails where it is instantiated alone.
template <class...>
inline constexpr bool kNever = false;

template <class F>
inline constexpr bool kIsConstMember = false;
template <class M, class R, class... A>
inline constexpr bool kIsConstMember<R (M::*)(A...) const> = true;
template <class M, class R, class... A>
inline constexpr bool kIsConstMember<R (M::*)(A...) const noexcept> = true;

/// True for a class with one forward, which is const.
template <class M>
constexpr bool has_const_forward() {
  if constexpr (HasOneForward<M>) {
    return kIsConstMember<decltype(&M::forward)>;
  }
  return false;
}

template <class M, class... A>
concept ForwardTakes = requires(const M& m, A&&... arguments) {
  m.forward(std::forward<A>(arguments)...);
};
template <class M, class... A>
concept ChangingForwardTakes = requires(M& m, A&&... arguments) {
  m.forward(std::forward<A>(arguments)...);
};

/// True where an M can be called with arguments of types A.
template <class M, class... A>
constexpr bool check_call() {
  if constexpr (ForwardTakes<M, A...>) {
    using Result = decltype(std::declval<const M&>().forward(std::declval<A>()...));
    static_assert(!std::is_void_v<Result>, "forward returns nothing: let it return a Tensor");
    return !std::is_void_v<Result>;
  } else if constexpr (HasOneForward<M> && !has_const_forward<M>()) {
    return false;  // check_construction said so
  } else if constexpr (ChangingForwardTakes<M, A...>) {
    static_assert(kNever<M>, "forward is not const: write `Tensor forward(const Tensor& x) const`");
  } else if constexpr (HasOneForward<M>) {
    static_assert(kNever<M>, "the call's arguments are not those of the module's forward");
  } else {
    static_assert(kNever<M>,
                  "the module has no public forward that takes the call's arguments: "
                  "write `Tensor forward(const Tensor& x) const`, before any `private:`");
  }
  return false;
}

/// True for a class of modules that can be constructed from arguments of types A and called.
template <class M, class... A>
constexpr bool check_construction() {
  if constexpr (!std::is_class_v<M> || !std::derived_from<M, Module>) {
    static_assert(kNever<M>, "no class of modules: write `struct M : nn::Module`");
    return false;
  } else if constexpr (!std::constructible_from<M, A...>) {
    static_assert(kNever<M>,
                  "no constructor of the module takes these arguments: compare them with the "
                  "class's own; options need their type, as in nn::ConvOptions{.stride = 2}");
    return false;
  } else if constexpr (HasOneForward<M> && !has_const_forward<M>()) {
    static_assert(kNever<M>, "forward is not const: write `Tensor forward(const Tensor& x) const`");
    return false;
  } else {
    return true;
  }
}

}  // namespace tessera::nn::detail
