// The rectified linear unit with a fixed slope left of zero as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/prelu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// x where x > 0, negative_slope x elsewhere, element by element.
class LeakyReLU : public InplaceActivation {
 public:
  explicit LeakyReLU(double negative_slope = 0.01, bool inplace = false)
      : InplaceActivation(inplace), negative_slope_(negative_slope) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return inplace() ? leaky_relu_(x, negative_slope_) : leaky_relu(x, negative_slope_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(negative_slope_, inplace()); }
  [[nodiscard]] std::string extra_repr() const override {
    return with_inplace("negative_slope=" + python_text(negative_slope_));
  }

 private:
  double negative_slope_;
};

}  // namespace tessera::nn
