#include <tessera/core/ops/sigmoid.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid_backward.h>
#include <tessera/core/ops/sub.h>

namespace tessera {

void Sigmoid::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) {
    const bool left = std::real(x) < 0;
    const auto e = std::exp(left ? x : -x);  // never overflows
    return (left ? e : 1.0) / (1.0 + e);
  });
}

void Sigmoid::vjp(Vjp& v, const Attrs&) {
  const Tensor y = v.output();
  const Tensor g = v.gradient();
  v.set(0, is_complex(y.dtype()) ? g * conj(y * (1 - y)) : sigmoid_backward(g, y));
}

Tensor sigmoid(const Tensor& x) {
  return call<Sigmoid>({x});
}

const Register<Sigmoid> register_sigmoid;

}  // namespace tessera
