#include <tessera/nn/optim/sgd.h>

#include <tessera/core/ops/sgd_step.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

void SGDOptions::validate() const {
  require_not_negative("SGD", "lr", lr);
  require_not_negative("SGD", "momentum", momentum);
  require_not_negative("SGD", "weight_decay", weight_decay);
  check<ValueError>(!nesterov || (momentum > 0 && dampening == 0),
                    "SGD: nesterov needs momentum and no dampening; got momentum ", momentum,
                    " and dampening ", dampening);
}

auto SGD::state_kinds(std::size_t group, const Shape& shape) const -> StateKinds {
  return options(group).momentum != 0 ? std::vector<StateKind>{{"momentum_buffer", shape}}
                                      : std::vector<StateKind>{};
}

void SGD::update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
                 double scale) {
  const SGDOptions& o = options(group);
  sgd_step_(parameters, {.lr = o.lr, .gradient_scale = o.maximize ? -scale : scale, .step = step},
            {.momentum = o.momentum,
             .dampening = o.dampening,
             .weight_decay = o.weight_decay,
             .nesterov = o.nesterov});
}

}  // namespace tessera::optim
