#include <tessera/nn/optim/lion.h>

#include <tessera/core/ops/lion_step.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

void LionOptions::validate() const {
  require_not_negative("Lion", "lr", lr);
  require_below_one("Lion", "beta1", beta1);
  require_below_one("Lion", "beta2", beta2);
  require_not_negative("Lion", "weight_decay", weight_decay);
}

auto Lion::state_kinds(std::size_t /*group*/, const Shape& shape) const -> StateKinds {
  return {{"exp_avg", shape}};
}

void Lion::update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
                  double scale) {
  const LionOptions& o = options(group);
  lion_step_(parameters, {.lr = o.lr, .gradient_scale = o.maximize ? -scale : scale, .step = step},
             {.beta1 = o.beta1, .beta2 = o.beta2, .weight_decay = o.weight_decay});
}

}  // namespace tessera::optim
