#include <tessera/core/ops/clamp.h>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/ops/where.h>

namespace tessera {

void Clamp::infer(Infer& c, const Attrs& attrs) {
  check(attrs.low <= attrs.high, "clamp: empty range; got ", attrs.low, " to ", attrs.high,
        ", expected the lower bound first");
  check_real("clamp", "x", c.input().dtype());
  infer_elementwise(c, 1, c.input().dtype());
}

void Clamp::reference(Kernel& k, const Attrs& attrs) {
  map_elements<1>(k, k.output().dtype, [&](Real auto x) {
    if (static_cast<double>(x) < attrs.low) {
      return decltype(x)(attrs.low);
    }
    return static_cast<double>(x) > attrs.high ? decltype(x)(attrs.high) : x;
  });
}

void Clamp::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const Tensor x = v.input();
    const Tensor inside = logical_and(x > attrs.low, x < attrs.high);
    v.set(0, where(inside, v.gradient(), 0));
  }
}

ShardRule Clamp::shard(const Infer& c, const Attrs&) {
  return elementwise_rule(c);
}

Tensor clamp(const Tensor& x, double low, double high) {
  return call<Clamp>({x}, {low, high});
}
const Tensor& clamp_(const Tensor& x, double low, double high) {
  return call_in_place<Clamp>(x, {x}, {low, high});
}

namespace {
const Register<Clamp> register_clamp;
}

}  // namespace tessera
