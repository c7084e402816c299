#include <tessera/nn/optim/adam.h>

#include <tessera/core/ops/adamw_step.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

template <bool decoupled>
void BasicAdamOptions<decoupled>::validate() const {
  const char* name = decoupled ? "AdamW" : "Adam";
  require_not_negative(name, "lr", lr);
  require_below_one(name, "beta1", beta1);
  require_below_one(name, "beta2", beta2);
  require_not_negative(name, "eps", eps);
  require_not_negative(name, "weight_decay", weight_decay);
}

template <bool decoupled>
std::vector<Optimizer::StateKind> BasicAdam<decoupled>::state_kinds(std::size_t group,
                                                                    const Shape& shape) const {
  std::vector<Optimizer::StateKind> kinds{{"exp_avg", shape}, {"exp_avg_sq", shape}};
  if (this->options(group).amsgrad) {
    kinds.push_back({"max_exp_avg_sq", shape});
  }
  return kinds;
}

template <bool decoupled>
void BasicAdam<decoupled>::update(std::size_t group, std::int64_t step,
                                  std::span<const StepTensors> parameters, double scale) {
  const auto& o = this->options(group);
  adamw_step_(parameters, {.lr = o.lr, .gradient_scale = o.maximize ? -scale : scale, .step = step},
              {.beta1 = o.beta1,
               .beta2 = o.beta2,
               .eps = o.eps,
               .weight_decay = o.weight_decay,
               .decoupled = decoupled,
               .amsgrad = o.amsgrad});
}

template struct BasicAdamOptions<false>;
template struct BasicAdamOptions<true>;
template class BasicAdam<false>;
template class BasicAdam<true>;

}  // namespace tessera::optim
