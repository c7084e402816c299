// The squared error.
#pragma once

#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

/// (input - target)^2, both of one shape.
[[nodiscard]] inline Tensor mse_loss(const Tensor& input, const Tensor& target,
                                     Reduction reduction = Reduction::mean) {
  const auto [x, y] = widened_alike("mse_loss", input, target);
  const Tensor error = x - y;
  return reduce(error * error, reduction);
}

/// mse_loss as a module.
class MSELoss : public LossOf<mse_loss, Reduction> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
