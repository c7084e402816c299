#include <tessera/core/ops/erf.h>

#include <cmath>
#include <numbers>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>

namespace tessera {

void Erf::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](std::floating_point auto x) { return std::erf(x); });
}

void Erf::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input();
  v.set(0, v.gradient() * exp(-(x * x)) * (2 * std::numbers::inv_sqrtpi));
}

Tensor erf(const Tensor& x) {
  return call<Erf>({x});
}

const Register<Erf> register_erf;

}  // namespace tessera
