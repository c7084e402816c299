#include <tessera/core/ops/silu_backward.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

void SiluBackward::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](std::floating_point auto g, std::floating_point auto at) {
    const double x = std::max<double>(at, -1e3);  // 0 further left, at -inf too
    const double s = 1 / (1 + std::exp(-x));
    return g * s * (1 + x * (1 - s));
  });
}

void SiluBackward::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input(1);
  v.set(0, [&] { return gradient_like(silu_backward(v.gradient(), x), v.input_meta(0)); });
  if (v.needs(1)) {
    const Tensor s = sigmoid(x);
    const Tensor curvature = s * (1 - s) * (2 + x * (1 - s * 2));
    v.set(1, gradient_like(v.gradient() * v.input(0) * curvature, v.input_meta(1)));
  }
}

Tensor silu_backward(const Tensor& g, const Tensor& x) {
  return call<SiluBackward>({g, x});
}

const Register<SiluBackward> register_silu_gradient;

}  // namespace tessera
