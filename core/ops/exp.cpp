#include <tessera/core/ops/exp.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>

namespace tessera {

void Exp::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::exp(x); });
}

void Exp::vjp(Vjp& v, const Attrs&) {
  v.set(0, v.gradient() * conj(v.output()));
}

Tensor exp(const Tensor& x) {
  return call<Exp>({x});
}

const Register<Exp> register_exp;

}  // namespace tessera
