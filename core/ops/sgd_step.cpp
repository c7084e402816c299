#include <tessera/core/ops/sgd_step.h>

#include <vector>

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {
namespace {

int members(const SgdStep::Attrs& attrs) {
  return attrs.momentum != 0 ? 3 : 2;
}

}  // namespace

void SgdStep::infer(Infer& c, const Attrs& attrs) {
  infer_step(c, members(attrs));
}

void SgdStep::reference(Kernel& k, const Attrs& attrs) {
  for (int group = 0; group < step_groups(k, members(attrs)); ++group) {
    for_step_elements(
        k, members(attrs), group, [&]<class T>(T const* const* in, T* const* out, auto i) {
          const auto as = [](double x) { return static_cast<T>(x); };
          T direction = in[1][i] * as(attrs.gradient_scale) + as(attrs.weight_decay) * in[0][i];
          if (attrs.momentum != 0) {
            const T momentum =
                attrs.first ? direction
                            : as(attrs.momentum) * in[2][i] + as(1 - attrs.dampening) * direction;
            direction = attrs.nesterov ? direction + as(attrs.momentum) * momentum : momentum;
            out[1][i] = momentum;
          }
          out[0][i] = in[0][i] - as(attrs.lr) * direction;
        });
  }
}

ShardRule SgdStep::shard(const Infer& c, const Attrs& attrs) {
  return step_rule(c, members(attrs));
}

void sgd_step_(std::span<const SgdTensors> parameters, const SgdStep::Attrs& attrs) {
  std::vector<TensorRef> inputs;
  Outputs outputs;
  for (const SgdTensors& p : parameters) {
    inputs.push_back(p.parameter);
    inputs.push_back(p.gradient);
    outputs.push_back(p.parameter);
    if (p.momentum.defined()) {
      inputs.push_back(p.momentum);
      outputs.push_back(p.momentum);
    }
  }
  call(op_def<SgdStep>(), inputs, &attrs, outputs);
}

namespace {
const Register<SgdStep> registered;
}

}  // namespace tessera
