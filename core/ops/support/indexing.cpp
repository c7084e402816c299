#include <tessera/core/ops/support/indexing.h>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

void check_index(const char* op, const Shape& shape, const Tensor& index, int dim) {
  check_i64(op, "index", index.dtype());
  check_has_dims(op, shape);
  check(index.ndim() == shape.size(), op, ": wrong number of dims of index; got ", index.shape(),
        ", expected ", shape.size(), " as in ", shape);
  const int along = normalize_dim(op, dim, shape.size());
  for (int d = 0; d < shape.size(); ++d) {
    check(d == along || index.shape()[d] <= shape[d], op, ": index is too large; got ",
          index.shape(), ", expected at most ", shape, " but for dim ", along);
  }
}

std::int64_t position_at(const char* op, const TensorImpl& index, std::int64_t offset,
                         std::int64_t size) {
  const std::int64_t i = index.data<std::int64_t>()[offset];
  check(i >= 0 && i < size, op, ": index out of range; got ", i, ", expected [0, ", size, ")");
  return i;
}

ShardRule index_rule(const Infer& c, int dim) {
  const Shape& shape = c.input(0).shape();
  const Shape& index_shape = c.input(1).shape();
  const int along = normalize_dim(c.op(), dim, shape.size());
  DimLabels x(shape.size());
  DimLabels index = DimLabels::numbered(shape.size());
  for (int d = 0; d < shape.size(); ++d) {
    const bool together = d != along && shape[d] == index_shape[d];
    x[d] = together ? index[d] : DimLabels::kWhole;
    index[d] = d == along ? index[d] : x[d];
  }
  return {.inputs = {x, index}};
}

}  // namespace tessera
