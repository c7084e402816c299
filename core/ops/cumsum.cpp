#include <tessera/core/ops/cumsum.h>

#include <utility>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera {

namespace {

/// Sums in row-major order of the other dims; those of one line are rounded one by one.
template <class C>
void accumulate_along(Kernel& k, int raw_dim) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  Shape lines = x.shape;
  const std::int64_t length =
      lines.empty() ? 1 : std::exchange(lines[normalize_dim("cumsum", raw_dim, lines.size())], 1);
  const int dim = lines.empty() ? 0 : normalize_dim("cumsum", raw_dim, lines.size());
  const std::int64_t step_x = lines.empty() ? 0 : x.strides[dim];
  const std::int64_t step_y = lines.empty() ? 0 : y.strides[dim];
  StridedCounter<2> at(lines, {x.strides, y.strides});
  for (std::int64_t n = length > 0 ? numel_of(lines) : 0; n > 0; --n, at.next()) {
    C sum = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      sum += load_as<C>(x, at.offsets[0] + i * step_x);
      store_as(y, at.offsets[1] + i * step_y, sum);
    }
  }
}

}  // namespace

void Cumsum::infer(Infer& c, const Attrs& attrs) {
  static_cast<void>(normalize_dim("cumsum", attrs.dim, c.input().ndim()));
  const DType dtype = c.input().dtype();
  c.add_output(c.input().shape(), is_integral(dtype) ? DType::i64 : dtype);
}

void Cumsum::reference(Kernel& k, const Attrs& attrs) {
  with_computing_type(k.output().dtype, [&]<class C>() { accumulate_along<C>(k, attrs.dim); });
}

void Cumsum::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, flip(cumsum(flip(v.gradient(), {attrs.dim}), attrs.dim), {attrs.dim}));
}

ShardRule Cumsum::shard(const Infer& c, const Attrs& attrs) {
  return rule_along(c, normalize_dim("cumsum", attrs.dim, c.input().ndim()));
}

Tensor cumsum(const Tensor& x, int dim) {
  return call<Cumsum>({x}, {dim});
}

const Register<Cumsum> register_cumsum;

}  // namespace tessera
