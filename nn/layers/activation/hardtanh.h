// The hyperbolic tangent in three straight pieces as a module.
#pragma once

#include <tessera/core/ops/hardtanh.h>
#include <tessera/nn/layers/activation/inplace_activation.h>

namespace tessera::nn {

/// min(max(x, min_val), max_val), element by element.
class Hardtanh : public InplaceActivation<double, double> {
 public:
  /// Throws ValueError unless max_val > min_val.
  explicit Hardtanh(double min_val = -1, double max_val = 1, bool inplace = false)
      : InplaceActivation(inplace, {"min_val", "max_val"}, min_val, max_val) {
    check<ValueError>(max_val > min_val, "Hardtanh: max_val must be above min_val; got ", max_val,
                      " and ", min_val);
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const auto& [min_val, max_val] = settings();
    return inplace() ? hardtanh_(x, min_val, max_val) : hardtanh(x, min_val, max_val);
  }
};

}  // namespace tessera::nn
