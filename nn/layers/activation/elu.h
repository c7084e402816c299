// The exponential linear unit as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/elu.h>
#include <tessera/nn/layers/activation/inplace_activation.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// x where x > 0, alpha (e^x - 1) elsewhere, element by element.
class ELU : public InplaceActivation {
 public:
  explicit ELU(double alpha = 1, bool inplace = false)
      : InplaceActivation(inplace), alpha_(alpha) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return inplace() ? elu_(x, alpha_) : elu(x, alpha_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(alpha_, inplace()); }
  [[nodiscard]] std::string extra_repr() const override {
    return with_inplace("alpha=" + python_text(alpha_));
  }

 private:
  double alpha_;
};

}  // namespace tessera::nn
