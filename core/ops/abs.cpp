#include <tessera/core/ops/abs.h>

#include <complex>
#include <cstdlib>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sign.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {

void Abs::infer(Infer& c, const Attrs&) {
  check_dtype(c.input().dtype() != DType::boolean, "abs", "x", c.input().dtype(),
              "an integer, floating or complex one");
  infer_elementwise(c, 1, real_of(c.input().dtype()));
}

void Abs::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.input().dtype, [](auto x) { return std::abs(x); });
}

void Abs::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input();
  if (is_complex(x.dtype())) {
    const Tensor size = abs(x);
    const Tensor zero = eq(size, 0);
    v.set(0, v.gradient() * where(zero, 0, x / where(zero, 1, size)));
  } else {
    v.set(0, v.gradient() * sign(x));
  }
}

Tensor abs(const Tensor& x) {
  return call<Abs>({x});
}

const Register<Abs> register_abs;

}  // namespace tessera
