#include <tessera/core/ops/sum.h>

#include <tessera/core/ops/support/microbatch_sum.h>

namespace tessera {

void Sum::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  infer_reduction(c, attrs, is_integral(dtype) ? DType::i64 : dtype);
}

void Sum::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  const DimSet reduced = reduced_dims("sum", attrs, x.shape.size());
  // Strides of the (dense) output as seen from x: zero where it is summed over.
  Strides to = Dims::filled(x.shape.size(), 0);
  std::int64_t step = 1;
  for (int d = x.shape.size() - 1; d >= 0; --d) {
    if (!reduced[static_cast<std::size_t>(d)]) {
      to[d] = step;
      step *= x.shape[d];
    }
  }
  sum_by_microbatch(k, to);
}

void Sum::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, expand_reduced(v.gradient(), attrs, v.input_meta()));
}

ShardRule Sum::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Partial::sum);
}

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Sum>({x}, {dims, keepdim});
}

const Register<Sum> register_sum;

}  // namespace tessera
