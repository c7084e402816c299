#include <tessera/core/ops/rmsprop_step.h>

#include <algorithm>
#include <cmath>

namespace tessera {

void RmspropStep::reference(Kernel& k, const Attrs& attrs) {
  const StepScalars scalars = StepScalars::of(k);
  const int last = members(attrs) - 1;
  for_step_elements(k, members(attrs), [&](const double* old, double* now) {
    const double g = old[1] * scalars.gradient_scale + attrs.weight_decay * old[0];
    now[1] = attrs.alpha * old[2] + (1 - attrs.alpha) * g * g;
    double spread = now[1];
    if (attrs.centered) {
      now[2] = attrs.alpha * old[3] + (1 - attrs.alpha) * g;
      spread = std::max(spread - now[2] * now[2], 0.0);
    }
    double direction = g / (std::sqrt(spread) + attrs.eps);
    if (attrs.momentum != 0) {
      direction += attrs.momentum * old[last];
      now[last - 1] = direction;
    }
    now[0] = old[0] - scalars.lr * direction;
  });
}

void rmsprop_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                   const RmspropStep::Attrs& attrs) {
  call_step(op_def<RmspropStep>(), parameters, scalars, &attrs);
}

const Register<RmspropStep> register_rmsprop_step;

}  // namespace tessera
