// Merging dims into one, and taking one apart.
#pragma once

#include <tessera/core/ops/reshape.h>
#include <tessera/nn/layers/settings.h>

namespace tessera::nn {

/// Merges dims start_dim to end_dim, both included, into one.
class Flatten : public WithSettings<int, int> {
 public:
  explicit Flatten(int start_dim = 1, int end_dim = -1)
      : WithSettings({"start_dim", "end_dim"}, start_dim, end_dim) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [start_dim, end_dim] = settings();
    return flatten(x, start_dim, end_dim);
  }
};

/// Gives `dim` the shape `unflattened_size`, in which one size may be -1.
class Unflatten : public WithSettings<int, Shape> {
 public:
  Unflatten(int dim, const Shape& unflattened_size)
      : WithSettings({"dim", "unflattened_size"}, dim, unflattened_size) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [dim, size] = settings();
    return unflatten(x, dim, size);
  }
};

}  // namespace tessera::nn
