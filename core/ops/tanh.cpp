#include <tessera/core/ops/tanh.h>

#include <cmath>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>

namespace tessera {

void Tanh::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::tanh(x); });
}

void Tanh::vjp(Vjp& v, const Attrs&) {
  if (v.needs(0)) {
    const Tensor y = v.output();
    v.set(0, v.gradient() * conj(1 - y * y));
  }
}

Tensor tanh(const Tensor& x) {
  return call<Tanh>({x});
}

namespace {
const Register<Tanh> registered;
}

}  // namespace tessera
