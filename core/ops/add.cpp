#include <tessera/core/ops/add.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Add::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) { return x + y; });
}

void Add::vjp(Vjp& v, const Attrs&) {
  for (int i = 0; i < 2; ++i) {
    v.set(i, [&] { return gradient_like(v.gradient(), v.input_meta(i), v.destination(i)); });
  }
}

Tensor operator+(const Tensor& x, const Tensor& y) {
  return call<Add>({x, y});
}
Tensor operator+(const Tensor& x, Number y) {
  return x + y.tensor();
}
Tensor operator+(Number x, const Tensor& y) {
  return x.tensor() + y;
}
const Tensor& add_(const Tensor& x, const Tensor& y) {
  return call_in_place<Add>(x, {x, y});
}
const Tensor& add_(const Tensor& x, Number y) {
  return add_(x, y.tensor());
}

const Register<Add> register_add;

}  // namespace tessera
