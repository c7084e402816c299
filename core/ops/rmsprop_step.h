// One step of RMSprop on many parameters.
#pragma once

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {

/// Inputs: StepScalars and, for each parameter, its value, gradient, mean of squared gradients,
/// then, if centered, the mean of gradients, and, with momentum, the momentum. Outputs, for each:
/// value and states after the step.
struct RmspropStep : ListStep<RmspropStep> {
  static constexpr OpInfo info{.name = "rmsprop_step",
                               .doc = "parameters and means of squares after a step of RMSprop",
                               .differentiable = false};
  struct Attrs {
    double alpha = 0.99;
    double eps = 1e-8;
    double weight_decay = 0;
    double momentum = 0;
    bool centered = false;  ///< divides by the deviation, not the mean square
    void fields(auto&& see) const {
      see("alpha", alpha), see("eps", eps), see("weight_decay", weight_decay),
          see("momentum", momentum), see("centered", centered);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static int members(const Attrs& attrs) {
    return 3 + (attrs.centered ? 1 : 0) + (attrs.momentum != 0 ? 1 : 0);
  }
  static void reference(Kernel& k, const Attrs& attrs);
};

/// Takes a step of RMSprop in place, with the formulas of torch.optim.RMSprop (Tieleman and Hinton,
/// Lecture 6.5, 2012; centered after Graves, arXiv:1308.0850, section 4.2). States: square_avg,
/// grad_avg if centered, momentum_buffer with momentum. An element's bits do not depend on how
/// parameters are cut into runs.
void rmsprop_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                   const RmspropStep::Attrs& attrs);

}  // namespace tessera
