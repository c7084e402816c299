#include <tessera/core/ops/maximum.h>

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

void Maximum::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](Real auto x, Real auto y) {
    return x != x || x > y ? x : y;  // a nan on either side wins
  });
}

void Maximum::vjp(Vjp& v, const Attrs&) {
  larger_vjp(v, true);
}

Tensor maximum(const Tensor& x, const Tensor& y) {
  return call<Maximum>({x, y});
}
Tensor maximum(const Tensor& x, Number y) {
  return call<Maximum>({x, y.tensor_beside(x.dtype(), "maximum")});
}
Tensor maximum(Number x, const Tensor& y) {
  return call<Maximum>({x.tensor_beside(y.dtype(), "maximum"), y});
}

const Register<Maximum> register_maximum;

}  // namespace tessera
