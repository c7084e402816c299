#include <tessera/core/ops/max.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>

namespace tessera {

void Max::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check(!is_complex(dtype), "max: complex numbers have no order; got ", dtype);
  infer_reduction(c, attrs, dtype);
  check_not_empty(c);
}

void Max::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs, []<Real T>(std::span<const T> values) {
    T best = values[0];
    for (const T value : values) {
      best = value != value || value > best ? value : best;  // nan wins
      if (best != best) {
        break;
      }
    }
    return best;
  });
}

void Max::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const TensorMeta& meta = v.input_meta();
    const Tensor best = expand_reduced(v.output(), attrs, meta);
    const Tensor chosen = cast(eq(v.input(), best), meta.dtype);
    const Tensor ties = sum(chosen, attrs.dims, attrs.keepdim);  // they share the gradient
    v.set(0, chosen * expand_reduced(v.gradient() / ties, attrs, meta));
  }
}

ShardRule Max::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor max(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Max>({x}, {dims, keepdim});
}

namespace {
const Register<Max> registered;
}

}  // namespace tessera
