#include <tessera/core/ops/lion_step.h>

namespace tessera {
namespace {

double sign_of(double x) {
  return static_cast<double>(x > 0) - static_cast<double>(x < 0);
}

}  // namespace

void LionStep::reference(Kernel& k, const Attrs& attrs) {
  const StepScalars scalars = StepScalars::of(k);
  for_step_elements(k, members(attrs), [&](const double* old, double* now) {
    const double g = old[1] * scalars.gradient_scale;
    const double direction = sign_of(attrs.beta1 * old[2] + (1 - attrs.beta1) * g);
    now[0] = (1 - scalars.lr * attrs.weight_decay) * old[0] - scalars.lr * direction;
    now[1] = attrs.beta2 * old[2] + (1 - attrs.beta2) * g;
  });
}

void lion_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                const LionStep::Attrs& attrs) {
  call_step(op_def<LionStep>(), parameters, scalars, &attrs);
}

const Register<LionStep> register_lion_step;

}  // namespace tessera
