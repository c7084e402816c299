// The rectified linear unit with a fixed slope left of zero as a module.
#pragma once

#include <tessera/core/ops/prelu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x where x > 0, negative_slope x elsewhere, element by element.
class LeakyReLU : public InplaceActivation<double> {
 public:
  explicit LeakyReLU(double negative_slope = 0.01, bool inplace = false)
      : InplaceActivation(inplace, {"negative_slope"}, negative_slope) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [negative_slope] = settings();
    return inplace() ? leaky_relu_(x, negative_slope) : leaky_relu(x, negative_slope);
  }
};

}  // namespace tessera::nn
