#include <tessera/core/ops/softplus.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/where.h>

namespace tessera {

void Softplus::reference(Kernel& k, const Attrs& attrs) {
  map_elements<1>(k, k.output().dtype, [&](std::floating_point auto x) {
    const double z = attrs.beta * x;
    const double curve = std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    return z > attrs.threshold ? x : curve / attrs.beta;
  });
}

void Softplus::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor z = v.input() * attrs.beta;
  v.set(0, v.gradient() * where(z > attrs.threshold, 1, sigmoid(z)));
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
  return call<Softplus>({x}, {beta, threshold});
}

const Register<Softplus> register_softplus;

}  // namespace tessera
