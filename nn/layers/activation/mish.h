// Mish as a module.
#pragma once

#include <tessera/core/ops/mish.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x tanh(softplus(x)), element by element.
class Mish : public InplaceActivation<> {
 public:
  explicit Mish(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return inplace() ? mish_(x) : mish(x); }
};

}  // namespace tessera::nn
