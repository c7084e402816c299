// Which shapes and dtypes a module gives, without computing.
//
//   auto [y, state] = nn::spec(lstm, nn::ArraySpec{{8, 100, 32}});
#pragma once

#include <tuple>
#include <vector>

#include <tessera/core/base/mapped.h>
#include <tessera/nn/build/meta_scope.h>
#include <tessera/nn/make.h>

namespace tessera::nn {

struct ArraySpec {
  Shape shape{};
  DType dtype = DType::f32;
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

namespace detail {

[[nodiscard]] Tensor without_elements(const ArraySpec& spec);

template <class A>
auto as_input(const A& argument) {
  if constexpr (std::same_as<A, ArraySpec>) {
    return without_elements(argument);
  } else {
    return argument;
  }
}

/// An ArraySpec in place of every tensor; pairs become tuples.
template <class R>
auto specs_of(const R& result) {
  if constexpr (std::same_as<R, Tensor>) {
    return ArraySpec{result.shape(), result.dtype()};
  } else if constexpr (std::same_as<R, std::vector<Tensor>>) {
    return mapped(result, [](const Tensor& x) { return ArraySpec{x.shape(), x.dtype()}; });
  } else if constexpr (kIsTuple<R>) {
    return std::apply([](const auto&... part) { return std::tuple{specs_of(part)...}; }, result);
  } else {
    return result;
  }
}

}  // namespace detail

/// Runs `module`, whose forward takes and gives one tensor, on a tensor without elements. No hook
/// runs, nothing is drawn or changed. Throws Unsupported when forward reads values, RuntimeError
/// for a module that is not built.
[[nodiscard]] ArraySpec spec(const Module& module, const ArraySpec& input);

/// The specs of what any forward returns: it is given an ArraySpec for every tensor, and all else
/// as it is. In what it returns an ArraySpec stands for every tensor, and a tuple for a pair.
template <class M, class... A>
[[nodiscard]] auto spec(const Ptr<M>& module, const A&... inputs) {
  const detail::MetaScope meta(*module);
  return detail::specs_of(
      detail::invoke<M>(*module, detail::key(*module), detail::as_input(inputs)...));
}

}  // namespace tessera::nn
