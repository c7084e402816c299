// Transforms: anything that makes a tensor of a tensor, `f(x)` or, with random numbers, `f(x,
// random)`. Those in this folder take pictures (channels, height, width).
#pragma once

#include <concepts>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/data/random.h>

namespace tessera::data {

template <class F>
concept RandomTransform = requires(const F& f, const Tensor& x, Random& random) {
  { f(x, random) } -> std::convertible_to<Tensor>;
};
template <class F>
concept Transform = RandomTransform<F> || requires(const F& f, const Tensor& x) {
  { f(x) } -> std::convertible_to<Tensor>;
};

/// Calls a transform of either form.
template <Transform F>
[[nodiscard]] Tensor apply_transform(const F& f, const Tensor& x, Random& random) {
  if constexpr (RandomTransform<F>) {
    return f(x, random);
  } else {
    static_cast<void>(random);
    return f(x);
  }
}

}  // namespace tessera::data
