#include <tessera/core/ops/scatter_add.h>

#include <vector>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/gather.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/indexing.h>

namespace tessera {

namespace {

template <class C>
void add_at(Kernel& k, int raw_dim) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& index = k.input(1);
  const TensorImpl& source = k.input(2);
  std::vector<C> sums = dense_values<C>(x);
  const int dim = normalize_dim("scatter_add", raw_dim, x.shape.size());
  const Strides dense = contiguous_strides(x.shape);
  Strides others = dense;
  others[dim] = 0;
  StridedCounter<3> at(index.shape, {index.strides, source.strides, others});
  for (std::int64_t n = index.numel(); n > 0; --n, at.next()) {
    const std::int64_t i = position_at("scatter_add", index, at.offsets[0], x.shape[dim]);
    sums[static_cast<std::size_t>(at.offsets[2] + i * dense[dim])] +=
        load_as<C>(source, at.offsets[1]);
  }
  store_values(k.output(), sums);
}

}  // namespace

void ScatterAdd::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(0);
  check_index("scatter_add", x.shape(), c.input(1), attrs.dim);
  check(c.input(2).shape() == c.input(1).shape() && c.input(2).dtype() == x.dtype(),
        "scatter_add: the source does not fit; got ", c.input(2).shape(), " ", c.input(2).dtype(),
        ", expected ", c.input(1).shape(), " ", x.dtype());
  c.add_output(x.shape(), x.dtype());
}

void ScatterAdd::reference(Kernel& k, const Attrs& attrs) {
  with_computing_type(k.output().dtype, [&]<class C>() { add_at<C>(k, attrs.dim); });
}

void ScatterAdd::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, [&] { return v.gradient(); });
  v.set(2, [&] { return gather(v.gradient(), attrs.dim, v.input(1)); });
}

ShardRule ScatterAdd::shard(const Infer& c, const Attrs& attrs) {
  ShardRule rule = index_rule(c, attrs.dim);
  rule.inputs.push_back(DimLabels(rule.inputs[1]));
  rule.outputs.push_back(rule.inputs[0]);
  return rule;
}

Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source) {
  return call<ScatterAdd>({x, index, source}, {dim});
}

const Register<ScatterAdd> register_scatter_add;

}  // namespace tessera
