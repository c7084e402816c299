#include <tessera/core/ops/sigmoid_backward.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

void SigmoidBackward::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](std::floating_point auto g, std::floating_point auto y) {
    return g * y * (1 - y);
  });
}

void SigmoidBackward::vjp(Vjp& v, const Attrs&) {
  const Tensor y = v.input(1);
  v.set(0, [&] { return gradient_like(sigmoid_backward(v.gradient(), y), v.input_meta(0)); });
  v.set(1, [&] { return gradient_like(v.gradient() * v.input(0) * (1 - y * 2), v.input_meta(1)); });
}

Tensor sigmoid_backward(const Tensor& g, const Tensor& y) {
  return call<SigmoidBackward>({g, y});
}

const Register<SigmoidBackward> register_sigmoid_gradient;

}  // namespace tessera
