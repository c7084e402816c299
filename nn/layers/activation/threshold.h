// The replacement of what is not above a number as a module.
#pragma once

#include <tessera/core/ops/threshold.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// x where x > threshold, else `value`, element by element.
class Threshold : public InplaceActivation<double, double> {
 public:
  Threshold(double threshold, double value, bool inplace = false)
      : InplaceActivation(inplace, {"threshold", "value"}, threshold, value) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [bar, value] = settings();
    return inplace() ? threshold_(x, bar, value) : threshold(x, bar, value);
  }
};

}  // namespace tessera::nn
