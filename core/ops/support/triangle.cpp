#include <tessera/core/ops/support/triangle.h>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

void infer_triangle(Infer& c) {
  const Tensor& x = c.input();
  check_layout(x.ndim() >= 2, c.op(), "x", x.shape(), "(..., rows, columns)");
  c.add_output(x.shape(), x.dtype());
}

ShardRule triangle_rule(const Infer& c) {
  DimLabels labels(c.input().ndim());
  for (int d = 0; d < labels.size - 2; ++d) {
    labels[d] = static_cast<std::int8_t>(d);
  }
  ShardRule rule;
  rule.inputs.push_back(labels);
  rule.outputs.push_back(labels);
  return rule;
}

}  // namespace tessera
