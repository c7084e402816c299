// The logistic function in three straight pieces as a module.
#pragma once

#include <tessera/core/ops/hardsigmoid.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// min(max(x + 3, 0), 6) / 6, element by element.
class Hardsigmoid : public InplaceActivation<> {
 public:
  explicit Hardsigmoid(bool inplace = false) : InplaceActivation(inplace) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return inplace() ? hardsigmoid_(x) : hardsigmoid(x);
  }
  [[nodiscard]] std::string extra_repr() const override { return ""; }
};

}  // namespace tessera::nn
