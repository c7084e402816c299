#include <tessera/core/ops/sgd_step.h>

namespace tessera {

void SgdStep::reference(Kernel& k, const Attrs& attrs) {
  const StepScalars scalars = StepScalars::of(k);
  for_step_elements(k, members(attrs), [&](const double* old, double* now) {
    double direction = old[1] * scalars.gradient_scale + attrs.weight_decay * old[0];
    if (attrs.momentum != 0) {
      const double momentum = scalars.step == 1
                                  ? direction
                                  : attrs.momentum * old[2] + (1 - attrs.dampening) * direction;
      direction = attrs.nesterov ? direction + attrs.momentum * momentum : momentum;
      now[1] = momentum;
    }
    now[0] = old[0] - scalars.lr * direction;
  });
}

void sgd_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
               const SgdStep::Attrs& attrs) {
  call_step(op_def<SgdStep>(), parameters, scalars, &attrs);
}

const Register<SgdStep> register_sgd_step;

}  // namespace tessera
