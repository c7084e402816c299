#include <tessera/core/ops/index_select.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/scatter_add.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/indexing.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

void IndexSelect::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input(0).shape();
  const Tensor& index = c.input(1);
  check_has_dims("index_select", shape);
  check_layout(index.ndim() == 1, "index_select", "index", index.shape(), "one dim");
  check_i64("index_select", "index", index.dtype());
  shape[normalize_dim("index_select", attrs.dim, shape.size())] = index.numel();
  c.add_output(shape, c.input(0).dtype());
}

void IndexSelect::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& index = k.input(1);
  TensorImpl& y = k.output();
  const int dim = normalize_dim("index_select", attrs.dim, x.shape.size());
  Strides others = x.strides;
  others[dim] = 0;
  Strides along = Dims::filled(y.shape.size(), 0);
  along[dim] = index.strides[0];
  StridedCounter<3> at(y.shape, {along, others, y.strides});
  visit_dtype(x.dtype, [&]<class T>() {
    for (std::int64_t n = y.numel(); n > 0; --n, at.next()) {
      const std::int64_t i = position_at("index_select", index, at.offsets[0], x.shape[dim]);
      y.data<T>()[at.offsets[2]] = x.data<T>()[at.offsets[1] + i * x.strides[dim]];
    }
  });
}

void IndexSelect::vjp(Vjp& v, const Attrs& attrs) {
  const TensorMeta& meta = v.input_meta();
  const int dim = normalize_dim("index_select", attrs.dim, meta.shape.size());
  Shape lifted = Dims::filled(meta.shape.size(), 1);
  lifted[dim] = -1;
  const Tensor index = expand(reshape(v.input(1), lifted), v.output_meta().shape);
  const Tensor none = zeros(meta.shape, {.dtype = meta.dtype, .device = meta.device});
  v.set(0, scatter_add(none, dim, index, v.gradient()));
}

ShardRule IndexSelect::shard(const Infer& c, const Attrs& attrs) {
  const int dim = normalize_dim("index_select", attrs.dim, c.input().ndim());
  const DimLabels y = DimLabels::numbered(c.input().ndim());
  DimLabels x = y;
  x[dim] = DimLabels::kWhole;
  DimLabels index(1);
  index[0] = y[dim];
  return {.inputs = {x, index}, .outputs = {y}};
}

Tensor index_select(const Tensor& x, int dim, const Tensor& index) {
  return call<IndexSelect>({x, index}, {dim});
}

const Register<IndexSelect> register_index_select;

}  // namespace tessera
