#include <tessera/core/ops/sum_to.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/microbatch_sum.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void SumTo::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  const int offset = x.ndim() - attrs.shape.size();
  bool fits = offset >= 0;
  for (int d = 0; fits && d < attrs.shape.size(); ++d) {
    fits = attrs.shape[d] == 1 || attrs.shape[d] == x.shape()[d + offset];
  }
  check(fits, "sum_to: wrong shape; got ", attrs.shape, ", expected one that broadcasts to ",
        x.shape());
  c.add_output(attrs.shape, x.dtype());
}

void SumTo::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  // Strides of the output as seen from x: zero where it is summed over.
  const int offset = x.shape.size() - attrs.shape.size();
  Strides to = Dims::filled(x.shape.size(), 0);
  const Strides dense = contiguous_strides(attrs.shape);
  for (int d = 0; d < attrs.shape.size(); ++d) {
    to[d + offset] = attrs.shape[d] == 1 ? 0 : dense[d];
  }
  sum_by_microbatch(k, to);
}

void SumTo::vjp(Vjp& v, const Attrs&) {
  v.set(0, expand_like(v.gradient(), v.input_meta()));
}

ShardRule SumTo::shard(const Infer& c, const Attrs& attrs) {
  const Shape& from = c.input().shape();
  const int offset = from.size() - attrs.shape.size();
  ShardRule rule{.partial = ShardRule::Partial::sum};
  const DimLabels& in = rule.inputs.emplace_back(DimLabels::numbered(from.size()));
  DimLabels& out = rule.outputs.emplace_back(attrs.shape.size());
  for (int d = offset; d < from.size(); ++d) {
    const bool kept = attrs.shape[d - offset] == from[d];
    out[d - offset] = kept ? in[d] : DimLabels::kWhole;
  }
  return rule;
}

Tensor sum_to(const Tensor& x, const Shape& shape, const Tensor& destination) {
  return call_into<SumTo>(destination, {x}, {shape});
}

namespace {

/// A gradient that came once a microbatch for samples that lie along a dim lies there, too.
Tensor laid_like(const Tensor& gradient, const TensorMeta& like) {
  const int more = gradient.ndim() - 1 - like.shape.size();
  const bool apart = gradient.microbatches().per_microbatch && like.microbatches &&
                     !like.microbatches.per_microbatch;
  return apart ? lay_microbatches(gradient, like.microbatches.dim + more) : gradient;
}

}  // namespace

Tensor gradient_like(const Tensor& given, const TensorMeta& like, const Tensor& destination) {
  const Tensor gradient = laid_like(given, like);
  // Stacked pieces stay apart until their leaf adds them: only what is behind dim 0 counts.
  Shape have = gradient.shape();
  Shape want = like.shape;
  if (gradient.microbatches().per_microbatch) {
    have.erase(0);
  }
  if (like.microbatches.per_microbatch) {
    want.erase(0);
  }
  // In the leaf's dtype before anything is added: passes and ranks add to the sum in it, too.
  const Tensor own = gradient.dtype() == like.dtype ? gradient : cast(gradient, like.dtype);
  return have == want ? own : sum_to(own, want, destination);
}

const Register<SumTo> register_sum_to;

}  // namespace tessera
