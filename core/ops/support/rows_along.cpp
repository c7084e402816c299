#include <tessera/core/ops/support/rows_along.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

void infer_along(Infer& c, int inputs, int dim) {
  const Tensor& x = c.input(0);
  check(dim >= 0 && dim < x.ndim(), c.op(), ": dim out of range; got ", dim, ", expected [0, ",
        x.ndim(), ") for shape ", x.shape());
  for (int i = 0; i < inputs; ++i) {
    check_floating(c.op(), "an input", c.input(i).dtype());
    check_shape(c.op(), "an input", c.input(i).shape(), x.shape());
  }
  c.add_output(x.shape(), x.dtype());
}

ShardRule rule_along(const Infer& c, int dim) {
  DimLabels labels = DimLabels::numbered(c.input(0).ndim());
  if (labels.size > 0) {
    labels[dim] = DimLabels::kWhole;
  }
  ShardRule rule;
  for (int i = 0; i < c.input_count(); ++i) {
    rule.inputs.push_back(labels);
  }
  rule.outputs.push_back(labels);
  return rule;
}

LineSum line_sum(const std::vector<double>& line) {
  const double top = *std::ranges::max_element(line);
  double sum = 0;  // nan where the largest number is infinite, as all that is made of it
  for (const double value : line) {
    sum += std::exp(value - top);
  }
  return {top, std::log(sum)};
}

}  // namespace tessera
