#include <tessera/core/ops/silu.h>

#include <cmath>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sub.h>

namespace tessera {

void Silu::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](Continuous auto x) { return x / (1.0 + std::exp(-x)); });
}

void Silu::vjp(Vjp& v, const Attrs&) {
  if (v.needs(0)) {
    const Tensor x = v.input();
    const Tensor s = sigmoid(x);
    v.set(0, v.gradient() * conj(s * (1 + x * (1 - s))));
  }
}

Tensor silu(const Tensor& x) {
  return call<Silu>({x});
}

namespace {
const Register<Silu> registered;
}

}  // namespace tessera
