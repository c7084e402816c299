// Squared for small errors, absolute for large ones.
#pragma once

#include <tuple>

#include <tessera/nn/loss/reduction.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;  ///< from this error on the loss is a line

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("reduction", options.reduction);
    f("delta", options.delta);
  }
};

/// e^2 / 2 where |e| = |input - target| is below delta, else delta (|e| - delta / 2) (Huber,
/// "Robust Estimation of a Location Parameter", 1964). Throws ValueError unless delta is positive.
[[nodiscard]] Tensor huber_loss(const Tensor& input, const Tensor& target,
                                const HuberLossOptions& options = {});

/// huber_loss as a module.
class HuberLoss : public Module {
 public:
  explicit HuberLoss(const HuberLossOptions& options = {}) : options_(options) {}
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return huber_loss(input, target, options_);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(options_); }

 private:
  HuberLossOptions options_;
};

}  // namespace tessera::nn
