// The scaled exponential linear unit as a module.
#pragma once

#include <tessera/core/ops/elu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// scale elu(x, alpha) with the numbers of self-normalizing networks, element by element.
class SELU : public InplaceActivation<> {
 public:
  explicit SELU(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return inplace() ? selu_(x) : selu(x); }
};

}  // namespace tessera::nn
