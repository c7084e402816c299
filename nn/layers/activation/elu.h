// The exponential linear unit as a module.
#pragma once

#include <tessera/core/ops/elu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x where x > 0, alpha (e^x - 1) elsewhere, element by element.
class ELU : public InplaceActivation<double> {
 public:
  explicit ELU(double alpha = 1, bool inplace = false)
      : InplaceActivation(inplace, {"alpha"}, alpha) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [alpha] = settings();
    return inplace() ? elu_(x, alpha) : elu(x, alpha);
  }
};

}  // namespace tessera::nn
