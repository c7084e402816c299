// The sigmoid linear unit in three pieces as a module.
#pragma once

#include <tessera/core/ops/hardswish.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x hardsigmoid(x), element by element.
class Hardswish : public InplaceActivation<> {
 public:
  explicit Hardswish(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return inplace() ? hardswish_(x) : hardswish(x);
  }
  [[nodiscard]] std::string extra_repr() const override { return ""; }
};

}  // namespace tessera::nn
