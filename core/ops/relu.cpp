#include <tessera/core/ops/relu.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/relu_backward.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Relu::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check_real_number<TypeError>("relu", "x", dtype);
  Elementwise<1>::infer(c, attrs);
}

void Relu::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.output().dtype, [](Real auto x) {
    return x < 0 ? decltype(x)(0) : x;  // nan stays nan
  });
}

void Relu::vjp(Vjp& v, const Attrs&) {
  v.set(0, relu_backward(v.gradient(), v.output()));
}

Tensor relu(const Tensor& x) {
  return call<Relu>({x});
}
const Tensor& relu_(const Tensor& x) {
  return call_in_place<Relu>(x, {x});
}

const Register<Relu> register_relu;

}  // namespace tessera
