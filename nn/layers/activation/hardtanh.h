// The hyperbolic tangent in three straight pieces as a module.
#pragma once

#include <tuple>

#include <tessera/core/ops/hardtanh.h>
#include <tessera/nn/layers/activation/inplace_activation.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// min(max(x, min_val), max_val), element by element.
class Hardtanh : public InplaceActivation {
 public:
  /// Throws ValueError unless max_val > min_val.
  explicit Hardtanh(double min_val = -1, double max_val = 1, bool inplace = false)
      : InplaceActivation(inplace), min_val_(min_val), max_val_(max_val) {
    check<ValueError>(max_val > min_val, "Hardtanh: max_val must be above min_val; got ", max_val,
                      " and ", min_val);
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return inplace() ? hardtanh_(x, min_val_, max_val_) : hardtanh(x, min_val_, max_val_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(min_val_, max_val_, inplace()); }
  [[nodiscard]] std::string extra_repr() const override {
    return with_inplace("min_val=" + python_text(min_val_) + ", max_val=" + python_text(max_val_));
  }

 private:
  double min_val_;
  double max_val_;
};

}  // namespace tessera::nn
