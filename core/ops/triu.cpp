#include <tessera/core/ops/triu.h>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void Triu::infer(Infer& c, const Attrs&) {
  check(c.input().ndim() >= 2, "triu: needs matrices; got shape ", c.input().shape());
  c.add_output(c.input().shape(), c.input().dtype());
}

void Triu::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  const int last = x.shape.size() - 1;
  StridedCounter<2> at(x.shape, {x.strides, y.strides});
  visit_dtype(x.dtype, [&]<class T>() {
    for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
      const bool keep = at.index()[last] - at.index()[last - 1] >= attrs.diagonal;
      y.data<T>()[at.offsets[1]] = keep ? x.data<T>()[at.offsets[0]] : convert<T>(0);
    }
  });
}

void Triu::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    v.set(0, triu(v.gradient(), attrs.diagonal));
  }
}

ShardRule Triu::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  DimLabels labels(c.input().ndim());
  for (int d = 0; d < labels.size - 2; ++d) {
    labels[d] = static_cast<std::int8_t>(d);
  }
  rule.inputs.push_back(labels);
  rule.outputs.push_back(labels);
  return rule;
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  return call<Triu>({x}, {diagonal});
}

namespace {
const Register<Triu> registered;
}

}  // namespace tessera
