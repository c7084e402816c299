#include <tessera/core/ops/support/triangle.h>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

void Triangle::infer(Infer& c, const Attrs&) {
  const Tensor& x = c.input();
  check_layout(x.ndim() >= 2, c.op(), "x", x.shape(), "(..., rows, columns)");
  c.add_output(x.shape(), x.dtype());
}

ShardRule Triangle::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input().ndim();
  const DimLabels labels = DimLabels::numbered(ndim, ndim - 2);
  return {.inputs = {labels}, .outputs = {labels}};
}

}  // namespace tessera
