#include <tessera/core/ops/relu_backward.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

void ReluBackward::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype,
                  [](Real auto g, Real auto x) { return x <= 0 ? decltype(g)(0) : g; });
}

// With respect to x it is flat wherever it has a derivative.
void ReluBackward::vjp(Vjp& v, const Attrs&) {
  v.set(0, [&] { return gradient_like(relu_backward(v.gradient(), v.input(1)), v.input_meta(0)); });
}

Tensor relu_backward(const Tensor& g, const Tensor& x) {
  return call<ReluBackward>({g, x});
}

const Register<ReluBackward> register_relu_gradient;

}  // namespace tessera
