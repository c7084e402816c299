#include <tessera/core/ops/cos.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/sin.h>

namespace tessera {

void Cos::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::cos(x); });
}

void Cos::vjp(Vjp& v, const Attrs&) {
  v.set(0, v.gradient() * -conj(sin(v.input())));
}

Tensor cos(const Tensor& x) {
  return call<Cos>({x});
}

const Register<Cos> register_cos;

}  // namespace tessera
