#include <tessera/core/ops/adamw_step.h>

#include <algorithm>
#include <cmath>

namespace tessera {

void AdamwStep::reference(Kernel& k, const Attrs& attrs) {
  const StepScalars scalars = StepScalars::of(k);
  const auto t = static_cast<double>(scalars.step);
  const double rate = scalars.lr / (1 - std::pow(attrs.beta1, t));
  const double root_scale = 1 / std::sqrt(1 - std::pow(attrs.beta2, t));
  const double keep = attrs.decoupled ? 1 - scalars.lr * attrs.weight_decay : 1;
  const double decay = attrs.decoupled ? 0 : attrs.weight_decay;
  for_step_elements(k, members(attrs), [&](const double* old, double* now) {
    const double g = old[1] * scalars.gradient_scale + (decay != 0 ? decay * old[0] : 0);
    const double mean = attrs.beta1 * old[2] + (1 - attrs.beta1) * g;
    const double square = attrs.beta2 * old[3] + (1 - attrs.beta2) * g * g;
    const double largest = attrs.amsgrad ? std::max(square, old[4]) : square;
    now[0] = keep * old[0] - rate * mean / (std::sqrt(largest) * root_scale + attrs.eps);
    now[1] = mean;
    now[2] = square;
    now[3] = largest;
  });
}

void adamw_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                 const AdamwStep::Attrs& attrs) {
  call_step(op_def<AdamwStep>(), parameters, scalars, &attrs);
}

const Register<AdamwStep> register_adamw_step;

}  // namespace tessera
