#include <tessera/core/ops/support/extremes.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

void infer_extreme(Infer& c, const ReduceAttrs& attrs) {
  const DType dtype = c.input().dtype();
  check_real(c.op(), "x", dtype);
  infer_reduction(c, attrs, dtype);
  check_not_empty(c);
}

void reference_extreme(Kernel& k, const ReduceAttrs& attrs, bool largest) {
  reduce_elements(k, attrs, [&]<Real T>(std::span<const T> values) {
    return values[best_of(values, largest)];
  });
}

void extreme_vjp(Vjp& v, const ReduceAttrs& attrs) {
  const TensorMeta& meta = v.input_meta();
  const Tensor best = expand_reduced(v.output(), attrs, meta);
  const Tensor x = v.input();
  const Tensor chosen =  // a nan is the best where there is one; f16 could not count the ties
      cast(logical_or(eq(x, best), ne(x, x)), promote(meta.dtype, DType::f32));
  const Tensor ties = sum(chosen, attrs.dims, attrs.keepdim);
  const Tensor shares = expand_reduced(v.gradient() / ties, attrs, meta);
  v.set(0, gradient_like(chosen * shares, meta));
}

void infer_position(Infer& c, const ReduceAttrs& attrs) {
  const DType dtype = c.input().dtype();
  check_real_number(c.op(), "x", dtype);
  infer_reduction(c, attrs, DType::i64);
  check_not_empty(c);
}

void reference_position(Kernel& k, const ReduceAttrs& attrs, bool largest) {
  reduce_elements(k, attrs, [&]<Real T>(std::span<const T> values) {
    return static_cast<std::int64_t>(best_of(values, largest));
  });
}

}  // namespace tessera
