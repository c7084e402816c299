#include <tessera/core/ops/take.h>

#include <vector>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/put.h>
#include <tessera/core/ops/support/positions.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

void Take::infer(Infer& c, const Attrs& attrs) {
  const int count = check_lists(c, 1, attrs.first);
  c.add_output(taken_shape(c.input().shape(), c.input(1).shape(), count, attrs.first),
               c.input().dtype());
}

void Take::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  visit_dtype(x.dtype, [&]<class T>() {
    T* next = k.output().data<T>();
    for_each_position(k, 1, x, k.output().shape, attrs.first,
                      [&](std::int64_t at) { *next++ = x.data<T>()[at]; });
  });
}

void Take::vjp(Vjp& v, const Attrs& attrs) {
  const TensorMeta& meta = v.input_meta();
  const Tensor none = zeros(meta.shape, {.dtype = meta.dtype, .device = meta.device});
  std::vector<Tensor> lists;
  for (int i = 1; i < v.input_count(); ++i) {
    lists.push_back(v.input(i));
  }
  v.set(0, put(none, attrs.first, lists, v.gradient(), true));
}

ShardRule Take::shard(const Infer& c, const Attrs& attrs) {
  return positions_rule(c, 1, attrs.first, c.outputs()[0].shape.size());
}

Tensor take(const Tensor& x, int first, std::span<const Tensor> lists) {
  std::vector<TensorRef> inputs{x};
  inputs.insert(inputs.end(), lists.begin(), lists.end());
  return call<Take>(inputs, {first});
}

const Register<Take> register_take;

}  // namespace tessera
