#include <tessera/nn/optim/adamw.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/adamw_step.h>

namespace tessera::optim {

void AdamWOptions::validate() const {
  check(lr >= 0, "AdamW: lr out of range; got ", lr, ", expected 0 or more");
  check(beta1 >= 0 && beta1 < 1, "AdamW: beta1 out of range; got ", beta1, ", expected [0, 1)");
  check(beta2 >= 0 && beta2 < 1, "AdamW: beta2 out of range; got ", beta2, ", expected [0, 1)");
  check(eps >= 0, "AdamW: eps out of range; got ", eps, ", expected 0 or more");
  check(weight_decay >= 0, "AdamW: weight_decay out of range; got ", weight_decay,
        ", expected 0 or more");
}

AdamW::AdamW() : OptimizerWith({"exp_avg", "exp_avg_sq"}) {}

AdamW::AdamW(const std::vector<nn::Parameter>& parameters, const AdamWOptions& options) : AdamW() {
  add_group(parameters, options);
}

void AdamW::update(std::size_t group, std::int64_t step, std::span<const Range> ranges,
                   double scale) {
  const AdamWOptions& o = options(group);
  std::vector<AdamwTensors> tensors;
  for (const Range& range : ranges) {
    tensors.push_back({range.parameter, range.gradient, range.state[0], range.state[1]});
  }
  adamw_step_(tensors, {.lr = o.lr,
                        .beta1 = o.beta1,
                        .beta2 = o.beta2,
                        .eps = o.eps,
                        .weight_decay = o.weight_decay,
                        .step = step,
                        .gradient_scale = scale});
}

}  // namespace tessera::optim
