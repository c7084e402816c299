// One step of Lion on many parameters.
#pragma once

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {

/// Inputs: StepScalars and, for each parameter, its value, gradient, mean of gradients. Outputs,
/// for each: value and mean after the step.
struct LionStep : ListStep<LionStep> {
  static constexpr OpInfo info{.name = "lion_step",
                               .doc = "parameters and means of gradients after a step of Lion",
                               .differentiable = false};
  struct Attrs {
    double beta1 = 0.9;
    double beta2 = 0.99;
    double weight_decay = 0;
    void fields(auto&& see) const {
      see("beta1", beta1), see("beta2", beta2), see("weight_decay", weight_decay);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static int members(const Attrs&) { return 3; }
  static void reference(Kernel& k, const Attrs& attrs);
};

/// Takes a step of Lion in place (Chen et al., "Symbolic Discovery of Optimization Algorithms",
/// arXiv:2302.06675, Algorithm 2). States: exp_avg. An element's bits do not depend on how
/// parameters are cut into runs.
void lion_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                const LionStep::Attrs& attrs);

}  // namespace tessera
