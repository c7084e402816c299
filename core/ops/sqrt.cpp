#include <tessera/core/ops/sqrt.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/mul.h>

namespace tessera {

void Sqrt::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::sqrt(x); });
}

void Sqrt::vjp(Vjp& v, const Attrs&) {
  v.set(0, v.gradient() / (conj(v.output()) * 2));
}

Tensor sqrt(const Tensor& x) {
  return call<Sqrt>({x});
}

const Register<Sqrt> register_sqrt;

}  // namespace tessera
