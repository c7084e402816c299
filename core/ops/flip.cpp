#include <tessera/core/ops/flip.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void Flip::infer(Infer& c, const Attrs& attrs) {
  for (const std::int64_t dim : attrs.dims) {
    static_cast<void>(normalize_dim("flip", dim, c.input().ndim()));
  }
  c.add_output(c.input().shape(), c.input().dtype());
}

void Flip::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  Strides to = y.strides;
  std::int64_t first = 0;
  const bool has_dims = !x.shape.empty();  // a tensor of no dims takes dim 0, as one of one would
  for (const std::int64_t dim : has_dims ? attrs.dims : Dims()) {
    const int d = normalize_dim("flip", dim, x.shape.size());
    first += (x.shape[d] - 1) * to[d];
    to[d] = -to[d];
  }
  StridedCounter<2> at(x.shape, {x.strides, to});
  visit_dtype(x.dtype, [&]<class T>() {
    for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
      y.data<T>()[first + at.offsets[1]] = x.data<T>()[at.offsets[0]];
    }
  });
}

void Flip::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, flip(v.gradient(), attrs.dims));
}

ShardRule Flip::shard(const Infer& c, const Attrs& attrs) {
  DimLabels labels = DimLabels::numbered(c.input().ndim());
  for (const std::int64_t dim : labels.size > 0 ? attrs.dims : Dims()) {
    labels[normalize_dim("flip", dim, labels.size)] = DimLabels::kWhole;
  }
  return {.inputs = {labels}, .outputs = {labels}};
}

Tensor flip(const Tensor& x, const Dims& dims) {
  return call<Flip>({x}, {dims});
}

const Register<Flip> register_flip;

}  // namespace tessera
