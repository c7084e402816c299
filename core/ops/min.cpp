#include <tessera/core/ops/min.h>

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

void Min::infer(Infer& c, const Attrs& attrs) {
  infer_extreme(c, attrs);
}

void Min::reference(Kernel& k, const Attrs& attrs) {
  reference_extreme(k, attrs, false);
}

void Min::vjp(Vjp& v, const Attrs& attrs) {
  extreme_vjp(v, attrs);
}

ShardRule Min::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor min(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Min>({x}, {dims, keepdim});
}

const Register<Min> register_min;

}  // namespace tessera
