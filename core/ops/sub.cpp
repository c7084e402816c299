#include <tessera/core/ops/sub.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Sub::infer(Infer& c, const Attrs& attrs) {
  for (int i = 0; i < 2; ++i) {
    check_dtype(c.input(i).dtype() != DType::boolean, "sub", i == 0 ? "x" : "y", c.input(i).dtype(),
                "an integer, floating or complex one; use ne for bools");
  }
  Elementwise<2>::infer(c, attrs);
}

void Sub::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) { return x - y; });
}

void Sub::vjp(Vjp& v, const Attrs&) {
  v.set(0, [&] { return gradient_like(v.gradient(), v.input_meta(0), v.destination(0)); });
  v.set(1, [&] { return gradient_like(-v.gradient(), v.input_meta(1), v.destination(1)); });
}

Tensor operator-(const Tensor& x, const Tensor& y) {
  return call<Sub>({x, y});
}
Tensor operator-(const Tensor& x, Number y) {
  return call<Sub>({x, y.tensor()});
}
Tensor operator-(Number x, const Tensor& y) {
  return call<Sub>({x.tensor(), y});
}
const Tensor& sub_(const Tensor& x, const Tensor& y) {
  return call_in_place<Sub>(x, {x, y});
}
const Tensor& sub_(const Tensor& x, Number y) {
  return sub_(x, y.tensor());
}

const Register<Sub> register_sub;

}  // namespace tessera
