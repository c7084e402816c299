#include "support/op_problem.h"

#include <cmath>

#include "support/op_tools.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {

Problem problem_of(const OpCaseData& c, const SampleData& sample, std::vector<Tensor> inputs,
                   DType dtype) {
  Problem p{.op_case = &c,
            .sample = &sample,
            .attrs = sample.attrs_in(dtype),
            .inputs = std::move(inputs)};
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    const InputSpec& spec = sample.inputs[i];
    const bool varies = spec.differentiates && spec.kind != InputSpec::Kind::absent;
    if (varies && is_differentiable(p.inputs[i].dtype())) {
      p.variables.push_back(i);
      p.inputs[i].set_requires_grad(true);
    }
  }
  return p;
}

Problem problem_of(const OpCaseData& c, const SampleData& sample, DType dtype) {
  return problem_of(c, sample, make_inputs(sample, dtype), dtype);
}

Tensor weights_for(const Tensor& y, double phase) {
  Tensor w = empty(y.shape(), {.dtype = y.dtype()});
  w.get().set_microbatches(y.microbatches());
  for (std::int64_t i = 0; i < w.numel(); ++i) {
    const double angle = static_cast<double>(i) + phase;
    store_as(w.get(), i,
             std::complex<double>(std::cos(angle), is_complex(y.dtype()) ? std::sin(angle) : 0));
  }
  return w;
}

std::vector<Tensor> differentiable_outputs(const Problem& p) {
  std::vector<Tensor> outputs;
  for (const Tensor& y : run_op(*p.op_case->op, p.inputs, p.attrs.get())) {
    const bool counts = static_cast<int>(outputs.size()) < p.op_case->gradient_outputs;
    if (is_differentiable(y.dtype()) && counts) {
      outputs.push_back(y);
    }
  }
  return outputs;
}

std::vector<Tensor> gradients(const Problem& p, const std::vector<Tensor>& seeds,
                              bool create_graph) {
  std::vector<Tensor> variables;
  for (const std::size_t i : p.variables) {
    variables.push_back(p.inputs[i]);
  }
  return grad(differentiable_outputs(p), variables, seeds, {.create_graph = create_graph});
}

std::vector<Tensor> seeds_of(const Problem& p) {
  const NoGradGuard no_grad;
  std::vector<Tensor> seeds;
  for (const Tensor& y : differentiable_outputs(p)) {
    seeds.push_back(weights_for(y, 1));
  }
  return seeds;
}

}  // namespace tessera::test
