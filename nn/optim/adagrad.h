// Adagrad.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;                   ///< the rate of step t is lr / (1 + (t - 1) lr_decay)
  double weight_decay = 0;               ///< added to the gradient
  double initial_accumulator_value = 0;  ///< the sums of squares before the first step
  double eps = 1e-10;
  bool maximize = false;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "lr_decay", o.lr_decay, "weight_decay", o.weight_decay,
                 "initial_accumulator_value", o.initial_accumulator_value, "eps", o.eps, "maximize",
                 o.maximize);
  }
};

/// Adagrad (Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
/// Stochastic Optimization", JMLR 12, 2011), with the formulas of torch.optim.Adagrad. Keeps one
/// tensor a parameter, `sum`.
class Adagrad : public OptimizerWith<AdagradOptions> {
 public:
  using OptimizerWith::OptimizerWith;

 private:
  [[nodiscard]] StateKinds state_kinds(std::size_t group, const Shape& shape) const override;
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

}  // namespace tessera::optim
