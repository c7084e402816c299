// Division of rows by their root mean square.
#pragma once

#include <tessera/nn/module.h>

namespace tessera::nn {

/// x (..., width) / sqrt(mean(x^2) + eps), times weight (Zhang and Sennrich, "Root Mean Square
/// Layer Normalization", NeurIPS 2019). Weights begin as ones.
class RmsNorm : public Module {
 public:
  explicit RmsNorm(std::int64_t width, double eps = 1e-6);
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (width)

 private:
  double eps_;
};

}  // namespace tessera::nn
