#include <tessera/core/ops/support/step_lists.h>

#include <vector>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

void infer_step(Infer& c, int members) {
  check(c.input_count() > 0 && c.input_count() % members == 0, c.op(),
        ": wrong number of tensors; got ", c.input_count(), ", expected a multiple of ", members);
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor& parameter = c.input(i - i % members);
    const Tensor& x = c.input(i);
    check(x.shape() == parameter.shape() && x.dtype() == parameter.dtype(), c.op(),
          ": tensors of one parameter differ; got ", x.shape(), " ", x.dtype(), ", expected ",
          parameter.shape(), " ", parameter.dtype());
    check_floating(c.op(), "a tensor", x.dtype());
    check_dense(c.op(), x);
    if (i % members != 1) {
      c.add_output(x.shape(), x.dtype());
    }
  }
}

ShardRule step_rule(const Infer& c, int members) {
  ShardRule rule;
  std::int8_t next = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    const int ndim = c.input(i).ndim();
    DimLabels labels(ndim);
    for (int d = 0; d < ndim; ++d) {
      labels[d] = static_cast<std::int8_t>(next + d);
    }
    rule.inputs.push_back(labels);
    if (i % members != 1) {
      rule.outputs.push_back(labels);
    }
    next = static_cast<std::int8_t>(i % members == members - 1 ? next + ndim : next);
  }
  return rule;
}

void call_step(const OpDef& op, std::span<const StepTensors> parameters, const void* attrs) {
  std::vector<TensorRef> inputs;
  inputs.reserve(parameters.size() * kMostMembers);
  Outputs outputs;
  for (const StepTensors& p : parameters) {
    inputs.emplace_back(p.parameter);
    inputs.emplace_back(p.gradient);
    outputs.push_back(p.parameter);
    for (const Tensor& state : p.states) {
      inputs.emplace_back(state);
      outputs.push_back(state);
    }
  }
  if (!inputs.empty()) {
    call(op, inputs, attrs, outputs);
  }
}

}  // namespace tessera
