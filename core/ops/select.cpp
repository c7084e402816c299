#include <tessera/core/ops/select.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/unsqueeze.h>

namespace tessera {

void Select::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input().shape();
  check_has_dims("select", shape);
  const int dim = normalize_dim("select", attrs.dim, shape.size());
  check(attrs.index >= -shape[dim] && attrs.index < shape[dim], "select: index out of range; got ",
        attrs.index, ", expected [", -shape[dim], ", ", shape[dim], ")");
  shape.erase(dim);
  c.add_output(shape, c.input().dtype());
}

void Select::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  const int dim = normalize_dim("select", attrs.dim, in.shape.size());
  const std::int64_t index = attrs.index < 0 ? attrs.index + in.shape[dim] : attrs.index;
  out.strides.erase(dim);
  out.offset += index * in.strides[dim];
}

void Select::vjp(Vjp& v, const Attrs& attrs) {
  const Shape& shape = v.input_meta().shape;
  const int dim = normalize_dim("select", attrs.dim, shape.size());
  const std::int64_t index = attrs.index < 0 ? attrs.index + shape[dim] : attrs.index;
  const Dims none = Dims::filled(shape.size(), 0);
  Pad::Attrs padding{.before = none, .after = none, .between = none};
  padding.before[dim] = index;
  padding.after[dim] = shape[dim] - index - 1;
  v.set(0, pad(unsqueeze(v.gradient(), dim), padding));
}

ShardRule Select::shard(const Infer& c, const Attrs& attrs) {
  return Squeeze::shard(c, {attrs.dim});
}

Tensor select(const Tensor& x, int dim, std::int64_t index) {
  return call<Select>({x}, {dim, index});
}

const Register<Select> register_select;

}  // namespace tessera
