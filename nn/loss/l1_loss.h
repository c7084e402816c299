// The absolute error.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

/// |input - target|, both of one shape; the gradient is 0 where they are equal.
[[nodiscard]] Tensor l1_loss(const Tensor& input, const Tensor& target,
                             Reduction reduction = Reduction::mean);

/// l1_loss as a module.
class L1Loss : public LossWith<Reduction> {
 public:
  using LossWith::LossWith;
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return l1_loss(input, target, options());
  }
};

}  // namespace tessera::nn
