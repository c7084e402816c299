#include <tessera/core/ops/tanh.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/tanh_backward.h>

namespace tessera {

void Tanh::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return std::tanh(x); });
}

void Tanh::vjp(Vjp& v, const Attrs&) {
  const Tensor y = v.output();
  const Tensor g = v.gradient();
  v.set(0, is_complex(y.dtype()) ? g * conj(1 - y * y) : tanh_backward(g, y));
}

Tensor tanh(const Tensor& x) {
  return call<Tanh>({x});
}

const Register<Tanh> register_tanh;

}  // namespace tessera
