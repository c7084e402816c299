#include <tessera/core/ops/max.h>

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

void Max::infer(Infer& c, const Attrs& attrs) {
  infer_extreme(c, attrs);
}

void Max::reference(Kernel& k, const Attrs& attrs) {
  reference_extreme(k, attrs, true);
}

void Max::vjp(Vjp& v, const Attrs& attrs) {
  extreme_vjp(v, attrs);
}

ShardRule Max::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor max(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Max>({x}, {dims, keepdim});
}

const Register<Max> register_max;

}  // namespace tessera
