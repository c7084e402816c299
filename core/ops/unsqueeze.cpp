#include <tessera/core/ops/unsqueeze.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/squeeze.h>

namespace tessera {

void Unsqueeze::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input().shape();
  shape.insert(normalize_dim("unsqueeze", attrs.dim, shape.size() + 1), 1);
  c.add_output(shape, c.input().dtype());
}

void Unsqueeze::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  const int dim = normalize_dim("unsqueeze", attrs.dim, out.shape.size());
  out.strides.insert(dim, dim < in.shape.size() ? in.shape[dim] * in.strides[dim] : 1);
}

void Unsqueeze::vjp(Vjp& v, const Attrs& attrs) {
  const int dim = normalize_dim("unsqueeze", attrs.dim, v.output_meta().shape.size());
  v.set(0, squeeze(v.gradient(), dim));
}

ShardRule Unsqueeze::shard(const Infer& c, const Attrs& attrs) {
  const DimLabels in = DimLabels::numbered(c.input().ndim());
  DimLabels out(in.size + 1);
  const int dim = normalize_dim("unsqueeze", attrs.dim, out.size);
  for (int d = 0; d < in.size; ++d) {
    out[d < dim ? d : d + 1] = in[d];
  }
  return {.inputs = {in}, .outputs = {out}};
}

Tensor unsqueeze(const Tensor& x, int dim) {
  return call<Unsqueeze>({x}, {dim});
}

const Register<Unsqueeze> register_unsqueeze;

}  // namespace tessera
