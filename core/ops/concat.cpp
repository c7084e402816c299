#include <tessera/core/ops/concat.h>

#include <utility>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera {

void Concat::infer(Infer& c, const Attrs& attrs) {
  check_at_least("concat", "number of tensors", c.input_count(), 1);
  Shape shape = c.input().shape();
  check_has_dims("concat", shape);
  const int dim = normalize_dim("concat", attrs.dim, shape.size());
  DType dtype = c.input().dtype();
  for (int i = 1; i < c.input_count(); ++i) {
    Shape other = c.input(i).shape();
    check(other.size() == shape.size(), "concat: wrong number of dims; got ", other, ", expected ",
          shape.size(), " as in ", shape);
    const std::int64_t size = std::exchange(other[dim], shape[dim]);
    check(other == shape, "concat: wrong shape of input ", i, "; got ", c.input(i).shape(),
          ", expected ", shape, " but for dim ", dim);
    shape[dim] += size;
    dtype = promote(dtype, c.input(i).dtype());
  }
  c.add_output(shape, dtype);
}

void Concat::reference(Kernel& k, const Attrs& attrs) {
  TensorImpl& y = k.output();
  const int dim = normalize_dim("concat", attrs.dim, y.shape.size());
  std::int64_t start = 0;
  for (int i = 0; i < k.input_count(); ++i) {
    const TensorImpl& x = k.input(i);
    StridedCounter<2> at(x.shape, {x.strides, y.strides});
    visit_dtype(x.dtype, [&]<class T>() {
      for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
        store_as(y, start + at.offsets[1], x.data<T>()[at.offsets[0]]);
      }
    });
    start += x.shape[dim] * y.strides[dim];
  }
}

void Concat::vjp(Vjp& v, const Attrs& attrs) {
  const int ndim = v.output_meta().shape.size();
  const int dim = normalize_dim("concat", attrs.dim, ndim);
  std::int64_t start = 0;
  for (int i = 0; i < v.input_count(); ++i) {
    const TensorMeta& meta = v.input_meta(i);
    const std::int64_t end = start + meta.shape[dim];
    v.set(i, [&] { return cast(slice(v.gradient(), dim, start, end), meta.dtype); });
    start = end;
  }
}

ShardRule Concat::shard(const Infer& c, const Attrs& attrs) {
  return rule_along(c, normalize_dim("concat", attrs.dim, c.input().ndim()));
}

Tensor concat(std::span<const TensorRef> pieces, int dim) {
  return call<Concat>(pieces, {dim});
}
Tensor concat(std::initializer_list<TensorRef> pieces, int dim) {
  return call<Concat>(pieces, {dim});
}

const Register<Concat> register_concat;

}  // namespace tessera
