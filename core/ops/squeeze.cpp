#include <tessera/core/ops/squeeze.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/unsqueeze.h>

namespace tessera {

void Squeeze::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input().shape();
  check_has_dims("squeeze", shape);
  const int dim = normalize_dim("squeeze", attrs.dim, shape.size());
  check(shape[dim] == 1, "squeeze: wrong size of dim ", dim, "; got ", shape[dim], " in ", shape,
        ", expected 1");
  shape.erase(dim);
  c.add_output(shape, c.input().dtype());
}

void Squeeze::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  out.strides.erase(normalize_dim("squeeze", attrs.dim, in.shape.size()));
}

void Squeeze::vjp(Vjp& v, const Attrs& attrs) {
  const int dim = normalize_dim("squeeze", attrs.dim, v.input_meta().shape.size());
  v.set(0, unsqueeze(v.gradient(), dim));
}

ShardRule Squeeze::shard(const Infer& c, const Attrs& attrs) {
  DimLabels in = DimLabels::numbered(c.input().ndim());
  const int dim = normalize_dim("squeeze", attrs.dim, in.size);
  in[dim] = DimLabels::kWhole;
  DimLabels out(in.size - 1);
  for (int d = 0; d < out.size; ++d) {
    out[d] = in[d < dim ? d : d + 1];
  }
  return {.inputs = {in}, .outputs = {out}};
}

Tensor squeeze(const Tensor& x, int dim) {
  return call<Squeeze>({x}, {dim});
}

const Register<Squeeze> register_squeeze;

}  // namespace tessera
