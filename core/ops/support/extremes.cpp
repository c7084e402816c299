#include <tessera/core/ops/support/extremes.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {

void Extreme::infer(Infer& c, const Attrs& attrs) {
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

void Extreme::vjp(Vjp& v, const Attrs& attrs) {
  const TensorMeta& meta = v.input_meta();
  const Tensor best = expand_reduced(v.output(), attrs, meta);
  const Tensor x = v.input();
  const Tensor chosen =  // a nan is the best where there is one; f16 could not count the ties
      cast(logical_or(eq(x, best), ne(x, x)), promote(meta.dtype, DType::f32));
  const Tensor ties = sum(chosen, attrs.dims, attrs.keepdim);
  const Tensor shares = expand_reduced(v.gradient() / ties, attrs, meta);
  v.set(0, gradient_like(chosen * shares, meta));
}

void ExtremePosition::infer(Infer& c, const Attrs& attrs) {
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

void larger_vjp(Vjp& v, bool largest) {
  const Tensor x = v.input(0);
  const Tensor y = v.input(1);
  const Tensor shared = where(eq(x, y), v.gradient() * 0.5, v.gradient());  // by ties
  for (int i = 0; i < 2; ++i) {
    v.set(i, [&] {
      const Tensor loses = (i == 0) == largest ? x < y : y < x;  // beside a nan nobody does
      return gradient_like(where(loses, 0, shared), v.input_meta(i));
    });
  }
}

}  // namespace tessera
