#include <tessera/core/ops/rsqrt.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>

namespace tessera {

void Rsqrt::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return 1.0 / std::sqrt(x); });
}

void Rsqrt::vjp(Vjp& v, const Attrs&) {
  const Tensor y = conj(v.output());
  v.set(0, v.gradient() * (y * y * y) * -0.5);
}

Tensor rsqrt(const Tensor& x) {
  return call<Rsqrt>({x});
}

const Register<Rsqrt> register_rsqrt;

}  // namespace tessera
