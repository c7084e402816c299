// The continuously differentiable exponential linear unit as a module.
#pragma once

#include <tessera/core/ops/elu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x where x > 0, alpha (e^(x / alpha) - 1) elsewhere, element by element. A call throws ValueError
/// for alpha 0.
class CELU : public InplaceActivation<double> {
 public:
  explicit CELU(double alpha = 1, bool inplace = false)
      : InplaceActivation(inplace, {"alpha"}, alpha) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [alpha] = settings();
    return inplace() ? celu_(x, alpha) : celu(x, alpha);
  }
};

}  // namespace tessera::nn
