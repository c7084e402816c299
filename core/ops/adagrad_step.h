// One step of Adagrad on many parameters.
#pragma once

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {

/// Inputs: StepScalars and, for each parameter, its value, gradient, sum of squared gradients.
/// Outputs, for each: value and sum after the step.
struct AdagradStep : ListStep<AdagradStep> {
  static constexpr OpInfo info{.name = "adagrad_step",
                               .doc = "parameters and sums of squares after a step of Adagrad",
                               .differentiable = false};
  struct Attrs {
    double lr_decay = 0;
    double eps = 1e-10;
    double weight_decay = 0;
    double initial_accumulator_value = 0;  ///< the sum of squares before the first step
    void fields(auto&& see) const {
      see("lr_decay", lr_decay), see("eps", eps), see("weight_decay", weight_decay),
          see("initial_accumulator_value", initial_accumulator_value);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static int members(const Attrs&) { return 3; }
  static void reference(Kernel& k, const Attrs& attrs);
};

/// Takes a step of Adagrad in place, with the formulas of torch.optim.Adagrad (Duchi et al., JMLR
/// 12, 2011). States: sum, which the first step does not read. An element's bits do not depend on
/// how parameters are cut into runs.
void adagrad_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                   const AdagradStep::Attrs& attrs);

}  // namespace tessera
