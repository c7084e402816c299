// Stochastic gradient descent.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "momentum", o.momentum, "dampening", o.dampening, "weight_decay",
                 o.weight_decay, "nesterov", o.nesterov, "maximize", o.maximize);
  }
};

/// Stochastic gradient descent, with momentum and Nesterov's look-ahead by the formulas of
/// torch.optim.SGD (Sutskever et al., "On the importance of initialization and momentum in deep
/// learning", ICML 2013). With momentum keeps one tensor a parameter, `momentum_buffer`. The first
/// update of a parameter is not dampened; one of a momentum that is switched on later is, as its
/// buffer begins with zeros.
class SGD : public OptimizerWith<SGDOptions> {
 public:
  using OptimizerWith::OptimizerWith;

 private:
  [[nodiscard]] StateKinds state_kinds(std::size_t group, const Shape& shape) const override;
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

}  // namespace tessera::optim
