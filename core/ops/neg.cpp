#include <tessera/core/ops/neg.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

void Neg::infer(Infer& c, const Attrs& attrs) {
  check_dtype(c.input().dtype() != DType::boolean, "neg", "x", c.input().dtype(),
              "an integer, floating or complex one; use logical_not for bools");
  Elementwise<1>::infer(c, attrs);
}

void Neg::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](auto x) { return -x; });
}

void Neg::vjp(Vjp& v, const Attrs&) {
  v.set(0, -v.gradient());
}

Tensor operator-(const Tensor& x) {
  return call<Neg>({x});
}

const Register<Neg> register_neg;

}  // namespace tessera
