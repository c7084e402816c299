#include <tessera/core/ops/transpose.h>

#include <tessera/core/autograd/vjp.h>

namespace tessera {

void Transpose::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  Shape shape = x.shape();
  std::swap(shape[normalize_dim("transpose", attrs.first, x.ndim())],
            shape[normalize_dim("transpose", attrs.second, x.ndim())]);
  c.add_output(shape, x.dtype());
}

void Transpose::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  const int ndim = in.shape.size();
  out.strides = in.strides;
  std::swap(out.strides[normalize_dim("transpose", attrs.first, ndim)],
            out.strides[normalize_dim("transpose", attrs.second, ndim)]);
  out.offset = in.offset;
}

void Transpose::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    v.set(0, transpose(v.gradient(), attrs.first, attrs.second));
  }
}

ShardRule Transpose::shard(const Infer& c, const Attrs& attrs) {
  ShardRule rule;
  DimLabels& in = rule.inputs.emplace_back(c.input().ndim());
  DimLabels& out = rule.outputs.emplace_back(c.outputs()[0].shape.size());
  for (int d = 0; d < in.size; ++d) {
    in[d] = out[d] = static_cast<std::int8_t>(d);
  }
  std::swap(out[normalize_dim("transpose", attrs.first, in.size)],
            out[normalize_dim("transpose", attrs.second, in.size)]);
  return rule;
}

Tensor transpose(const Tensor& x, int first, int second) {
  return call<Transpose>({x}, {first, second});
}

namespace {
const Register<Transpose> register_transpose;
}

}  // namespace tessera
