// The sigmoid linear unit as a module.
#pragma once

#include <tessera/core/ops/silu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x sigmoid(x), element by element.
class SiLU : public InplaceActivation<> {
 public:
  explicit SiLU(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return inplace() ? silu_(x) : silu(x); }
};

}  // namespace tessera::nn
