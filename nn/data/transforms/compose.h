// Transforms one after another.
#pragma once

#include <tuple>
#include <utility>

#include <tessera/nn/data/transforms/apply.h>

namespace tessera::data {

/// The first transform's result goes to the second, and so on.
template <Transform... F>
class Compose {
 public:
  explicit Compose(F... transforms) : transforms_(std::move(transforms)...) {}

  [[nodiscard]] Tensor operator()(const Tensor& x, Random& random) const {
    Tensor result = x;
    std::apply([&](const auto&... f) { ((result = apply_transform(f, result, random)), ...); },
               transforms_);
    return result;
  }

 private:
  std::tuple<F...> transforms_;
};

}  // namespace tessera::data
