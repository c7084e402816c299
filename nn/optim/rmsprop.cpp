#include <tessera/nn/optim/rmsprop.h>

#include <tessera/core/ops/rmsprop_step.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

void RMSpropOptions::validate() const {
  require_not_negative("RMSprop", "lr", lr);
  require_not_negative("RMSprop", "alpha", alpha);
  require_not_negative("RMSprop", "eps", eps);
  require_not_negative("RMSprop", "weight_decay", weight_decay);
  require_not_negative("RMSprop", "momentum", momentum);
}

auto RMSprop::state_kinds(std::size_t group, const Shape& shape) const -> StateKinds {
  std::vector<StateKind> kinds{{"square_avg", shape}};
  if (options(group).centered) {
    kinds.push_back({"grad_avg", shape});
  }
  if (options(group).momentum != 0) {
    kinds.push_back({"momentum_buffer", shape});
  }
  return kinds;
}

void RMSprop::update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
                     double scale) {
  const RMSpropOptions& o = options(group);
  rmsprop_step_(parameters,
                {.lr = o.lr, .gradient_scale = o.maximize ? -scale : scale, .step = step},
                {.alpha = o.alpha,
                 .eps = o.eps,
                 .weight_decay = o.weight_decay,
                 .momentum = o.momentum,
                 .centered = o.centered});
}

}  // namespace tessera::optim
