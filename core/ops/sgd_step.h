// One step of gradient descent on many parameters.
#pragma once

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {

/// Inputs: StepScalars and, for each parameter, its value, gradient and, with momentum, the
/// momentum. Outputs, for each: value and momentum after the step.
struct SgdStep : ListStep<SgdStep> {
  static constexpr OpInfo info{.name = "sgd_step",
                               .doc = "parameters and momenta after a step of gradient descent",
                               .differentiable = false};
  struct Attrs {
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    void fields(auto&& see) const {
      see("momentum", momentum), see("dampening", dampening), see("weight_decay", weight_decay),
          see("nesterov", nesterov);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static int members(const Attrs& attrs) { return attrs.momentum != 0 ? 3 : 2; }
  static void reference(Kernel& k, const Attrs& attrs);
};

/// Takes a step of gradient descent in place, with the formulas of torch.optim.SGD. States:
/// momentum_buffer, unless the momentum is 0. An element's bits do not depend on how parameters are
/// cut into runs.
void sgd_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
               const SgdStep::Attrs& attrs);

}  // namespace tessera
