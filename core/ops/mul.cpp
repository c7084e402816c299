#include <tessera/core/ops/mul.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Mul::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) { return x * y; });
}

void Mul::vjp(Vjp& v, const Attrs&) {
  for (int i = 0; i < 2; ++i) {
    v.set(i, [&] { return gradient_like(v.gradient() * conj(v.input(1 - i)), v.input_meta(i)); });
  }
}

Tensor operator*(const Tensor& x, const Tensor& y) {
  return call<Mul>({x, y});
}
Tensor operator*(const Tensor& x, Number y) {
  return x * y.tensor();
}
Tensor operator*(Number x, const Tensor& y) {
  return x.tensor() * y;
}
const Tensor& mul_(const Tensor& x, const Tensor& y) {
  return call_in_place<Mul>(x, {x, y});
}
const Tensor& mul_(const Tensor& x, Number y) {
  return mul_(x, y.tensor());
}

const Register<Mul> register_mul;

}  // namespace tessera
