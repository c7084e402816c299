// A call of an op of which gradients are checked.
#pragma once

#include <string>
#include <vector>

#include "support/op_case.h"

namespace tessera::test {

/// One call, its variables (inputs that have gradients) and fixed weights for its outputs.
struct Problem {
  const OpCaseData* op_case = nullptr;
  const SampleData* sample = nullptr;
  SampleData::Attrs attrs;
  std::vector<Tensor> inputs;
  std::vector<std::size_t> variables;  ///< indices into `inputs`
};

/// The call of a sample with its own inputs, or with others of the same number.
[[nodiscard]] Problem problem_of(const OpCaseData& c, const SampleData& sample,
                                 DType dtype = DType::f64);
[[nodiscard]] Problem problem_of(const OpCaseData& c, const SampleData& sample,
                                 std::vector<Tensor> inputs, DType dtype = DType::f64);

/// Weights of a loss, different for every element.
[[nodiscard]] Tensor weights_for(const Tensor& y, double phase);
[[nodiscard]] std::vector<Tensor> differentiable_outputs(const Problem& p);
/// Weights for each of the outputs.
[[nodiscard]] std::vector<Tensor> seeds_of(const Problem& p);
/// Those of the variables, for these gradients of the outputs.
[[nodiscard]] std::vector<Tensor> gradients(const Problem& p, const std::vector<Tensor>& seeds,
                                            bool create_graph = false);
/// Finite differences confirm the gradients of all variables.
void expect_differences(Problem& p, const std::string& what);

}  // namespace tessera::test
