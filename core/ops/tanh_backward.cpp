#include <tessera/core/ops/tanh_backward.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

void TanhBackward::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](std::floating_point auto g, std::floating_point auto y) {
    return g * (1 - y * y);
  });
}

void TanhBackward::vjp(Vjp& v, const Attrs&) {
  const Tensor y = v.input(1);
  v.set(0, [&] { return gradient_like(tanh_backward(v.gradient(), y), v.input_meta(0)); });
  v.set(1, [&] { return gradient_like(v.gradient() * v.input(0) * y * -2, v.input_meta(1)); });
}

Tensor tanh_backward(const Tensor& g, const Tensor& y) {
  return call<TanhBackward>({g, y});
}

const Register<TanhBackward> register_tanh_gradient;

}  // namespace tessera
