#include <tessera/core/ops/put.h>

#include <vector>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/positions.h>
#include <tessera/core/ops/take.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

namespace {

template <class C>
void put_as(Kernel& k, const Put::Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& values = k.input(1);
  std::vector<C> result = dense_values<C>(x);
  TensorImpl dense(x.storage, x.shape, x.dtype, x.device);  // positions in `result`
  StridedCounter<1> from(values.shape, {values.strides});
  for_each_position(k, 2, dense, values.shape, attrs.first, [&](std::int64_t at) {
    const C value = load_as<C>(values, from.offsets[0]);
    C& target = result[static_cast<std::size_t>(at)];
    target = attrs.add ? target + value : value;
    from.next();
  });
  store_values(k.output(), result);
}

}  // namespace

void Put::infer(Infer& c, const Attrs& attrs) {
  check_lists(c, 2, attrs.first);
  const Shape expected =
      taken_shape(c.input(0).shape(), c.input(2).shape(), c.input_count() - 2, attrs.first);
  check(c.input(1).shape() == expected && c.input(1).dtype() == c.input(0).dtype(),
        "put: the values do not fit; got ", c.input(1).shape(), " ", c.input(1).dtype(),
        ", expected ", expected, " ", c.input(0).dtype());
  c.add_output(c.input(0).shape(), c.input(0).dtype());
}

void Put::reference(Kernel& k, const Attrs& attrs) {
  with_computing_type(k.output().dtype, [&]<class C>() { put_as<C>(k, attrs); });
}

namespace {

/// True where a value stays: at repeated positions the last one does.
Tensor stays(const TensorMeta& x, const TensorMeta& values, const Put::Attrs& attrs,
             std::span<const Tensor> lists) {
  const TensorOptions there{.dtype = DType::i64, .device = x.device};
  const Tensor numbers = reshape(arange(numel_of(values.shape), there), values.shape);
  const Tensor none = zeros(x.shape, there);
  return eq(take(put(none, attrs.first, lists, numbers), attrs.first, lists), numbers);
}

}  // namespace

void Put::vjp(Vjp& v, const Attrs& attrs) {
  std::vector<Tensor> lists;
  for (int i = 2; i < v.input_count(); ++i) {
    lists.push_back(v.input(i));
  }
  if (v.needs(0)) {
    const Tensor g = v.gradient();
    const TensorMeta& values = v.input_meta(1);
    const Tensor none = zeros(values.shape, {.dtype = g.dtype(), .device = g.device()});
    v.set(0, attrs.add ? g : put(g, attrs.first, lists, none));
  }
  if (v.needs(1)) {
    const Tensor g = take(v.gradient(), attrs.first, lists);
    v.set(1, attrs.add ? g : where(stays(v.input_meta(0), v.input_meta(1), attrs, lists), g, 0));
  }
}

ShardRule Put::shard(const Infer& c, const Attrs& attrs) {
  const ShardRule taking = positions_rule(c, 2, attrs.first, c.input(1).ndim());
  const DimLabels& x = taking.inputs[0];
  ShardRule rule{.inputs = {x, taking.outputs[0]}, .outputs = {x}};
  for (int i = 2; i < c.input_count(); ++i) {
    rule.inputs.push_back(taking.inputs[1]);
  }
  return rule;
}

Tensor put(const Tensor& x, int first, std::span<const Tensor> lists, const Tensor& values,
           bool add) {
  std::vector<TensorRef> inputs{x, values};
  inputs.insert(inputs.end(), lists.begin(), lists.end());
  return call<Put>(inputs, {first, add});
}
const Tensor& put_(const Tensor& x, int first, std::span<const Tensor> lists, const Tensor& values,
                   bool add) {
  return x.copy_(put(x, first, lists, values, add));
}

const Register<Put> register_put;

}  // namespace tessera
