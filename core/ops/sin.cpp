#include <tessera/core/ops/sin.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/cos.h>
#include <tessera/core/ops/mul.h>

namespace tessera {

void Sin::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::sin(x); });
}

void Sin::vjp(Vjp& v, const Attrs&) {
  v.set(0, v.gradient() * conj(cos(v.input())));
}

Tensor sin(const Tensor& x) {
  return call<Sin>({x});
}

const Register<Sin> register_sin;

}  // namespace tessera
