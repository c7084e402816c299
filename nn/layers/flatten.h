// Merging dims into one, and taking one apart.
#pragma once

#include <tuple>

#include <tessera/core/ops/reshape.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// Merges dims start_dim to end_dim, both included, into one.
class Flatten : public Module {
 public:
  explicit Flatten(int start_dim = 1, int end_dim = -1)
      : start_dim_(start_dim), end_dim_(end_dim) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return flatten(x, start_dim_, end_dim_); }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(start_dim_, end_dim_); }
  [[nodiscard]] std::string extra_repr() const override {
    return tessera::detail::concat("start_dim=", start_dim_, ", end_dim=", end_dim_);
  }

 private:
  int start_dim_;
  int end_dim_;
};

/// Gives `dim` the shape `unflattened_size`, in which one size may be -1.
class Unflatten : public Module {
 public:
  Unflatten(int dim, const Shape& unflattened_size) : dim_(dim), size_(unflattened_size) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return unflatten(x, dim_, size_); }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(dim_, size_); }
  [[nodiscard]] std::string extra_repr() const override {
    return tessera::detail::concat("dim=", dim_, ", unflattened_size=", size_);
  }

 private:
  int dim_;
  Shape size_;
};

}  // namespace tessera::nn
