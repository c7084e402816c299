#include <tessera/core/ops/maximum.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/where.h>

namespace tessera {

void Maximum::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](Real auto x, Real auto y) {
    return x != x || x > y ? x : y;  // a nan on either side wins
  });
}

void Maximum::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input(0);
  const Tensor y = v.input(1);
  const Tensor shared = where(eq(x, y), v.gradient() * 0.5, v.gradient());  // by ties
  for (int i = 0; i < 2; ++i) {
    if (v.needs(i)) {
      const Tensor loses = i == 0 ? x < y : y < x;  // beside a nan nobody does
      v.set(i, gradient_like(where(loses, 0, shared), v.input_meta(i)));
    }
  }
}

Tensor maximum(const Tensor& x, const Tensor& y) {
  return call<Maximum>({x, y});
}
Tensor maximum(const Tensor& x, Number y) {
  return call<Maximum>({x, y.tensor_beside(x.dtype(), "maximum")});
}
Tensor maximum(Number x, const Tensor& y) {
  return call<Maximum>({x.tensor_beside(y.dtype(), "maximum"), y});
}

const Register<Maximum> register_maximum;

}  // namespace tessera
