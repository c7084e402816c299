#include <tessera/core/ops/expand.h>

#include <vector>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void Expand::infer(Infer& c, const Attrs& attrs) {
  const Shape& from = c.input().shape();
  const int offset = attrs.shape.size() - from.size();
  check(offset >= 0, "expand: too few dims; got ", attrs.shape, ", expected at least ", from.size(),
        " for ", from);
  Shape shape = attrs.shape;
  for (int d = 0; d < shape.size(); ++d) {
    const std::int64_t size = d < offset ? 1 : from[d - offset];
    shape[d] = shape[d] == -1 ? size : shape[d];
    check(size == 1 || size == shape[d], "expand: wrong size of dim ", d, "; got ", attrs.shape,
          ", expected ", size, " there for ", from);
  }
  c.add_output(shape, c.input().dtype());
}

void Expand::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs&) {
  out.strides = broadcast_strides(in, out.shape);
}

void Expand::vjp(Vjp& v, const Attrs&) {
  v.set(0, gradient_like(v.gradient(), v.input_meta(), v.destination(0)));
}

ShardRule Expand::shard(const Infer& c, const Attrs&) {
  const Shape& to = c.outputs()[0].shape;
  const Shape& from = c.input().shape();
  ShardRule rule;
  DimLabels& in = rule.inputs.emplace_back(from.size());
  DimLabels& out = rule.outputs.emplace_back(to.size());
  for (int d = 0; d < from.size(); ++d) {
    const int at = d + to.size() - from.size();
    if (from[d] == to[at]) {  // a repeated dim stays whole: its pieces would need their own shape
      in[d] = out[at] = static_cast<std::int8_t>(d);
    }
  }
  return rule;
}

Tensor expand(const Tensor& x, const Shape& shape) {
  return call<Expand>({x}, {shape});
}

Tensor expand_like(const Tensor& gradient, const TensorMeta& like) {
  Shape shape = like.shape;
  if (!gradient.microbatches() && like.microbatches && like.microbatches.count == 1) {
    return as_microbatches(expand(gradient, shape), 1, like.microbatches.dim);
  }
  if (!gradient.microbatches().per_microbatch || !like.microbatches) {
    return expand(gradient, shape);
  }
  if (like.microbatches.per_microbatch) {
    shape.erase(0);
    return expand(gradient, shape);
  }
  shape[like.microbatches.dim] /= like.microbatches.count;
  Outputs pieces = unbind_microbatches(gradient);
  std::vector<TensorRef> expanded;
  for (Tensor& piece : pieces) {
    piece = expand(piece, shape);
    expanded.emplace_back(piece);
  }
  return join_microbatches(expanded, like.microbatches.dim);
}

const Register<Expand> register_expand;

}  // namespace tessera
