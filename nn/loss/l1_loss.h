// The absolute error.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// |input - target|, both of one shape; the gradient is 0 where they are equal.
[[nodiscard]] Tensor l1_loss(const Tensor& input, const Tensor& target,
                             Reduction reduction = Reduction::mean);

/// l1_loss as a module.
class L1Loss : public Module {
 public:
  explicit L1Loss(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return l1_loss(input, target, reduction_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(reduction_); }

 private:
  Reduction reduction_;
};

}  // namespace tessera::nn
