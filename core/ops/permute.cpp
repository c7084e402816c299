#include <tessera/core/ops/permute.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {

namespace {

/// All dims from 0 on, each once.
Dims normalized(const Dims& order, int ndim) {
  check(order.size() == ndim, "permute: wrong number of dims; got ", order, ", expected ", ndim);
  Dims result = order;
  unsigned seen = 0;
  for (std::int64_t& d : result) {
    d = normalize_dim("permute", d, ndim);
    seen |= 1U << d;
  }
  check(seen + 1 == 1U << ndim, "permute: a dim is given twice; got ", order,
        ", expected each once");
  return result;
}

}  // namespace

void Permute::infer(Infer& c, const Attrs& attrs) {
  Shape shape;
  for (const std::int64_t d : normalized(attrs.order, c.input().ndim())) {
    shape.push_back(c.input().shape()[static_cast<int>(d)]);
  }
  c.add_output(shape, c.input().dtype());
}

void Permute::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  const Dims order = normalized(attrs.order, in.shape.size());
  for (int d = 0; d < order.size(); ++d) {
    out.strides[d] = in.strides[static_cast<int>(order[d])];
  }
}

void Permute::vjp(Vjp& v, const Attrs& attrs) {
  const Dims order = normalized(attrs.order, v.input_meta().shape.size());
  Dims inverse = order;
  for (int d = 0; d < order.size(); ++d) {
    inverse[static_cast<int>(order[d])] = d;
  }
  v.set(0, permute(v.gradient(), inverse));
}

ShardRule Permute::shard(const Infer& c, const Attrs& attrs) {
  const DimLabels out = DimLabels::numbered(c.input().ndim());
  DimLabels in = out;
  const Dims order = normalized(attrs.order, in.size);
  for (int d = 0; d < in.size; ++d) {
    in[static_cast<int>(order[d])] = out[d];
  }
  return {.inputs = {in}, .outputs = {out}};
}

Tensor permute(const Tensor& x, const Dims& order) {
  return call<Permute>({x}, {order});
}

const Register<Permute> register_permute;

}  // namespace tessera
