// The replacement of what is not above a number as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/threshold.h>
#include <tessera/nn/layers/activation/inplace_activation.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// x where x > threshold, else `value`, element by element.
class Threshold : public InplaceActivation {
 public:
  Threshold(double threshold, double value, bool inplace = false)
      : InplaceActivation(inplace), threshold_(threshold), value_(value) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return inplace() ? tessera::threshold_(x, threshold_, value_)
                     : threshold(x, threshold_, value_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(threshold_, value_, inplace()); }
  [[nodiscard]] std::string extra_repr() const override {
    return with_inplace("threshold=" + python_text(threshold_) + ", value=" + python_text(value_));
  }

 private:
  double threshold_;
  double value_;
};

}  // namespace tessera::nn
