// The absolute error.
#pragma once

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/sub.h>
#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

/// |input - target|, both of one shape; the gradient is 0 where they are equal.
[[nodiscard]] inline Tensor l1_loss(const Tensor& input, const Tensor& target,
                                    Reduction reduction = Reduction::mean) {
  const auto [x, y] = widened_alike("l1_loss", input, target);
  return reduce(abs(x - y), reduction);
}

/// l1_loss as a module.
class L1Loss : public LossOf<l1_loss, Reduction> {
 public:
  using LossOf::LossOf;
};

}  // namespace tessera::nn
