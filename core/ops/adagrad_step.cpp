#include <tessera/core/ops/adagrad_step.h>

#include <cmath>

namespace tessera {

void AdagradStep::reference(Kernel& k, const Attrs& attrs) {
  const StepScalars scalars = StepScalars::of(k);
  const double rate = scalars.lr / (1 + static_cast<double>(scalars.step - 1) * attrs.lr_decay);
  for_step_elements(k, members(attrs), [&](const double* old, double* now) {
    const double g = old[1] * scalars.gradient_scale + attrs.weight_decay * old[0];
    const double before = scalars.step == 1 ? attrs.initial_accumulator_value : old[2];
    now[1] = before + g * g;
    now[0] = old[0] - rate * g / (std::sqrt(now[1]) + attrs.eps);
  });
}

void adagrad_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                   const AdagradStep::Attrs& attrs) {
  call_step(op_def<AdagradStep>(), parameters, scalars, &attrs);
}

const Register<AdagradStep> register_adagrad_step;

}  // namespace tessera
