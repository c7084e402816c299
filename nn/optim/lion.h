// Lion.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;       ///< in the direction of a step
  double beta2 = 0.99;      ///< in the mean that is kept
  double weight_decay = 0;  ///< decoupled
  bool maximize = false;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "beta1", o.beta1, "beta2", o.beta2, "weight_decay", o.weight_decay,
                 "maximize", o.maximize);
  }
};

/// Lion (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, Algorithm 2): every
/// element moves by the learning rate, in the direction of a mean of gradients. Keeps one tensor a
/// parameter, `exp_avg`.
class Lion : public OptimizerWith<LionOptions> {
 public:
  using OptimizerWith::OptimizerWith;

 private:
  [[nodiscard]] StateKinds state_kinds(std::size_t group, const Shape& shape) const override;
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

}  // namespace tessera::optim
