#include <tessera/core/ops/adagrad_step.h>

#include <cmath>

#include <tessera/core/ops/support/checks.h>

namespace tessera {
namespace {

constexpr int kAdagradMembers = 3;

}  // namespace

void AdagradStep::infer(Infer& c, const Attrs&) {
  infer_step(c, kAdagradMembers);
}

void AdagradStep::reference(Kernel& k, const Attrs& attrs) {
  const StepScalars scalars = StepScalars::of(k);
  const double rate = scalars.lr / (1 + static_cast<double>(scalars.step - 1) * attrs.lr_decay);
  for_step_elements(k, kAdagradMembers, [&](const double* old, double* now) {
    const double g = old[1] * scalars.gradient_scale + attrs.weight_decay * old[0];
    const double before = scalars.step == 1 ? attrs.initial_accumulator_value : old[2];
    now[1] = before + g * g;
    now[0] = old[0] - rate * g / (std::sqrt(now[1]) + attrs.eps);
  });
}

ShardRule AdagradStep::shard(const Infer& c, const Attrs&) {
  return step_rule(c, kAdagradMembers);
}

void adagrad_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                   const AdagradStep::Attrs& attrs) {
  call_step(op_def<AdagradStep>(), parameters, scalars, &attrs);
}

const Register<AdagradStep> register_adagrad_step;

}  // namespace tessera
