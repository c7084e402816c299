#include <tessera/core/ops/minimum.h>

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

void Minimum::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](Real auto x, Real auto y) {
    return x != x || x < y ? x : y;  // a nan on either side wins
  });
}

void Minimum::vjp(Vjp& v, const Attrs&) {
  larger_vjp(v, false);
}

Tensor minimum(const Tensor& x, const Tensor& y) {
  return call<Minimum>({x, y});
}
Tensor minimum(const Tensor& x, Number y) {
  return call<Minimum>({x, y.tensor_beside(x.dtype(), "minimum")});
}
Tensor minimum(Number x, const Tensor& y) {
  return call<Minimum>({x.tensor_beside(y.dtype(), "minimum"), y});
}

const Register<Minimum> register_minimum;

}  // namespace tessera
