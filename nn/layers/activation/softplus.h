// The smooth rectifier as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/softplus.h>
#include <tessera/nn/module.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// ln(1 + e^(beta x)) / beta, and x where beta x > threshold, element by element.
class Softplus : public Module {
 public:
  explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return softplus(x, beta_, threshold_); }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(beta_, threshold_); }
  [[nodiscard]] std::string extra_repr() const override {
    return "beta=" + python_text(beta_) + ", threshold=" + python_text(threshold_);
  }

 private:
  double beta_;
  double threshold_;
};

}  // namespace tessera::nn
