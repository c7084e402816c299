// The smooth rectifier as a module.
#pragma once

#include <tessera/core/ops/softplus.h>
#include <tessera/nn/layers/settings.h>

namespace tessera::nn {

/// ln(1 + e^(beta x)) / beta, and x where beta x > threshold, element by element.
class Softplus : public WithSettings<double, double> {
 public:
  explicit Softplus(double beta = 1, double threshold = 20)
      : WithSettings({"beta", "threshold"}, beta, threshold) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [beta, threshold] = settings();
    return softplus(x, beta, threshold);
  }
};

}  // namespace tessera::nn
