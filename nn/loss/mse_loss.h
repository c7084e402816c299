// The squared error.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// (input - target)^2, both of one shape.
[[nodiscard]] Tensor mse_loss(const Tensor& input, const Tensor& target,
                              Reduction reduction = Reduction::mean);

/// mse_loss as a module.
class MSELoss : public Module {
 public:
  explicit MSELoss(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return mse_loss(input, target, reduction_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(reduction_); }

 private:
  Reduction reduction_;
};

}  // namespace tessera::nn
