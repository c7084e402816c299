// RMSprop.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< what a mean keeps of itself in a step
  double eps = 1e-8;
  double weight_decay = 0;  ///< added to the gradient
  double momentum = 0;
  bool centered = false;  ///< divides by the deviation, not the mean square
  bool maximize = false;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "alpha", o.alpha, "eps", o.eps, "weight_decay", o.weight_decay,
                 "momentum", o.momentum, "centered", o.centered, "maximize", o.maximize);
  }
};

/// RMSprop (Tieleman and Hinton, "Neural Networks for Machine Learning", Lecture 6.5, 2012;
/// centered after Graves, "Generating Sequences With Recurrent Neural Networks", 2013,
/// section 4.2), with the formulas of torch.optim.RMSprop. Keeps `square_avg`, if centered
/// `grad_avg`, with momentum `momentum_buffer` of each parameter.
class RMSprop : public OptimizerWith<RMSpropOptions> {
 public:
  using OptimizerWith::OptimizerWith;

 private:
  [[nodiscard]] StateKinds state_kinds(std::size_t group, const Shape& shape) const override;
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

}  // namespace tessera::optim
