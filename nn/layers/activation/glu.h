// The gated linear unit as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/glu.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// The first half of x along `dim` times the logistic function of the second.
class GLU : public Module {
 public:
  explicit GLU(int dim = -1) : dim_(dim) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return glu(x, dim_); }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(dim_); }
  [[nodiscard]] std::string extra_repr() const override { return "dim=" + std::to_string(dim_); }

 private:
  int dim_;
};

}  // namespace tessera::nn
