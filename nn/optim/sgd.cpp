#include <tessera/nn/optim/sgd.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/sgd_step.h>

namespace tessera::optim {

void SgdOptions::validate() const {
  check(lr >= 0, "Sgd: lr out of range; got ", lr, ", expected 0 or more");
  check(momentum >= 0, "Sgd: momentum out of range; got ", momentum, ", expected 0 or more");
  check(weight_decay >= 0, "Sgd: weight_decay out of range; got ", weight_decay,
        ", expected 0 or more");
  check(!nesterov || (momentum > 0 && dampening == 0),
        "Sgd: nesterov needs momentum and no dampening; got momentum ", momentum, " and dampening ",
        dampening);
}

Sgd::Sgd() : OptimizerWith({"momentum_buffer"}) {}

Sgd::Sgd(const std::vector<nn::Parameter>& parameters, const SgdOptions& options) : Sgd() {
  add_group(parameters, options);
}

bool Sgd::has_state(std::size_t group) const {
  return options(group).momentum > 0;
}

void Sgd::update(std::size_t group, std::int64_t step, std::span<const Range> ranges,
                 double scale) {
  const SgdOptions& o = options(group);
  std::vector<SgdTensors> tensors;
  for (const Range& range : ranges) {
    tensors.push_back(
        {range.parameter, range.gradient, range.state.empty() ? Tensor() : range.state[0]});
  }
  sgd_step_(tensors, {.lr = o.lr,
                      .momentum = o.momentum,
                      .dampening = o.dampening,
                      .weight_decay = o.weight_decay,
                      .nesterov = o.nesterov,
                      .first = step == 1,
                      .gradient_scale = scale});
}

}  // namespace tessera::optim
