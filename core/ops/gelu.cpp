#include <tessera/core/ops/gelu.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/gelu_backward.h>
#include <tessera/core/ops/support/gelu.h>

namespace tessera {

void Gelu::reference(Kernel& k, const Attrs& attrs) {
  map_elements<1>(k, k.output().dtype, [&](std::floating_point auto x) {
    return static_cast<double>(x * gelu_gate(x, attrs.tanh_form));
  });
}

void Gelu::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, gelu_backward(v.gradient(), v.input(), attrs.tanh_form));
}

Tensor gelu(const Tensor& x, bool tanh_form) {
  return call<Gelu>({x}, {tanh_form});
}

const Register<Gelu> register_gelu;

}  // namespace tessera
