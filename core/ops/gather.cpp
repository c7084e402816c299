#include <tessera/core/ops/gather.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/scatter_add.h>
#include <tessera/core/ops/support/indexing.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

void Gather::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(0);
  const Tensor& index = c.input(1);
  check_index("gather", x.shape(), index, attrs.dim);
  c.add_output(index.shape(), x.dtype());
}

void Gather::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& index = k.input(1);
  TensorImpl& y = k.output();
  const int dim = normalize_dim("gather", attrs.dim, x.shape.size());
  Strides others = x.strides;
  others[dim] = 0;
  StridedCounter<3> at(index.shape, {index.strides, others, y.strides});
  visit_dtype(x.dtype, [&]<class T>() {
    for (std::int64_t n = index.numel(); n > 0; --n, at.next()) {
      const std::int64_t i = position_at("gather", index, at.offsets[0], x.shape[dim]);
      y.data<T>()[at.offsets[2]] = x.data<T>()[at.offsets[1] + i * x.strides[dim]];
    }
  });
}

void Gather::vjp(Vjp& v, const Attrs& attrs) {
  const TensorMeta& meta = v.input_meta();
  const Tensor none = zeros(meta.shape, {.dtype = meta.dtype, .device = meta.device});
  v.set(0, scatter_add(none, attrs.dim, v.input(1), v.gradient()));
}

ShardRule Gather::shard(const Infer& c, const Attrs& attrs) {
  ShardRule rule = index_rule(c, attrs.dim);
  rule.outputs.push_back(rule.inputs[1]);
  return rule;
}

Tensor gather(const Tensor& x, int dim, const Tensor& index) {
  return call<Gather>({x, index}, {dim});
}

const Register<Gather> register_gather;

}  // namespace tessera
