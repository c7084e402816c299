#include <tessera/core/ops/min.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>

namespace tessera {

void Min::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check(!is_complex(dtype), "min: complex numbers have no order; got ", dtype);
  infer_reduction(c, attrs, dtype);
  check_not_empty(c);
}

void Min::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs, []<Real T>(std::span<const T> values) {
    T best = values[0];
    for (const T value : values) {
      best = value != value || value < best ? value : best;  // nan wins
      if (best != best) {
        break;
      }
    }
    return best;
  });
}

void Min::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const TensorMeta& meta = v.input_meta();
    const Tensor best = expand_reduced(v.output(), attrs, meta);
    const Tensor chosen = cast(eq(v.input(), best), meta.dtype);
    const Tensor ties = sum(chosen, attrs.dims, attrs.keepdim);  // they share the gradient
    v.set(0, chosen * expand_reduced(v.gradient() / ties, attrs, meta));
  }
}

ShardRule Min::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor min(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Min>({x}, {dims, keepdim});
}

namespace {
const Register<Min> registered;
}

}  // namespace tessera
