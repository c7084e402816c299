// The rectified linear unit up to 6 as a module.
#pragma once

#include <tessera/core/ops/hardtanh.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// min(max(x, 0), 6), element by element.
class ReLU6 : public InplaceActivation<> {
 public:
  explicit ReLU6(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return inplace() ? relu6_(x) : relu6(x); }
};

}  // namespace tessera::nn
