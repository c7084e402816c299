#include <tessera/nn/optim/adagrad.h>

#include <tessera/core/ops/adagrad_step.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

void AdagradOptions::validate() const {
  require_not_negative("Adagrad", "lr", lr);
  require_not_negative("Adagrad", "lr_decay", lr_decay);
  require_not_negative("Adagrad", "weight_decay", weight_decay);
  require_not_negative("Adagrad", "initial_accumulator_value", initial_accumulator_value);
  require_not_negative("Adagrad", "eps", eps);
}

auto Adagrad::state_kinds(std::size_t /*group*/, const Shape& shape) const -> StateKinds {
  return {{"sum", shape}};
}

void Adagrad::update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
                     double scale) {
  const AdagradOptions& o = options(group);
  adagrad_step_(parameters,
                {.lr = o.lr, .gradient_scale = o.maximize ? -scale : scale, .step = step},
                {.lr_decay = o.lr_decay,
                 .eps = o.eps,
                 .weight_decay = o.weight_decay,
                 .initial_accumulator_value = o.initial_accumulator_value});
}

}  // namespace tessera::optim
