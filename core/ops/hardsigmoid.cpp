#include <tessera/core/ops/hardsigmoid.h>

#include <algorithm>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/logical.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/ops/where.h>

namespace tessera {

void Hardsigmoid::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](std::floating_point auto x) {
    return std::clamp(x + 3, 0.0, 6.0) / 6;  // nan stays nan
  });
}

void Hardsigmoid::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input();
  v.set(0, where(logical_and(x > -3, x < 3), v.gradient() / 6, 0));
}

Tensor hardsigmoid(const Tensor& x) {
  return call<Hardsigmoid>({x});
}
const Tensor& hardsigmoid_(const Tensor& x) {
  return call_in_place<Hardsigmoid>(x, {x});
}

const Register<Hardsigmoid> register_hardsigmoid;

}  // namespace tessera
