#include <tessera/core/ops/support/step_lists.h>

#include <vector>

#include <tessera/core/ops/support/checks.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera {

void infer_step(Infer& c, int members) {
  const int count = c.input_count() - 1;
  check(count > 0 && count % members == 0, c.op(), ": wrong number of tensors; got ", count,
        " behind the scalars, expected a multiple of ", members);
  check(c.input(0).shape() == Shape{3} && c.input(0).dtype() == DType::f64, c.op(),
        ": wrong scalars; got ", c.input(0).shape(), " ", c.input(0).dtype(),
        ", expected (3,) f64: learning rate, gradient scale, step");
  for (int i = 0; i < count; ++i) {
    const Tensor& parameter = c.input(1 + i - i % members);
    const Tensor& x = c.input(1 + i);
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
  rule.inputs.emplace_back(1);
  std::int8_t next = 0;
  for (int i = 0; i + 1 < c.input_count(); ++i) {
    const int ndim = c.input(1 + i).ndim();
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

void call_step(const OpDef& op, std::span<const StepTensors> parameters, const StepScalars& scalars,
               const void* attrs) {
  if (parameters.empty()) {
    return;
  }
  check_at_least(op.info.name, "step", scalars.step, 1);
  const Tensor first = on_device(scalars.tensor(), parameters[0].parameter.device());
  std::vector<TensorRef> inputs;
  inputs.reserve(1 + parameters.size() * kMostMembers);
  inputs.emplace_back(first);
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
  call(op, inputs, attrs, outputs);
}

}  // namespace tessera
