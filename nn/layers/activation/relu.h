// The rectified linear unit as a module.
#pragma once

#include <tessera/core/ops/relu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// max(x, 0), element by element.
class ReLU : public InplaceActivation<> {
 public:
  explicit ReLU(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return inplace() ? relu_(x) : relu(x); }
};

}  // namespace tessera::nn
