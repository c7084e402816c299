#include <tessera/core/ops/silu.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/silu_backward.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Silu::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype,
                  [](std::floating_point auto x) { return x / (1.0 + std::exp(-x)); });
}

void Silu::vjp(Vjp& v, const Attrs&) {
  v.set(0, silu_backward(v.gradient(), v.input()));
}

Tensor silu(const Tensor& x) {
  return call<Silu>({x});
}
const Tensor& silu_(const Tensor& x) {
  return call_in_place<Silu>(x, {x});
}

const Register<Silu> register_silu;

}  // namespace tessera
