#include <tessera/core/ops/argmin.h>

namespace tessera {

void Argmin::reference(Kernel& k, const Attrs& attrs) {
  reference_position(k, attrs, false);
}

Tensor argmin(const Tensor& x, int dim, bool keepdim) {
  return call<Argmin>({x}, {.dims = {dim}, .keepdim = keepdim});
}
Tensor argmin(const Tensor& x) {
  return call<Argmin>({x});
}

const Register<Argmin> register_argmin;

}  // namespace tessera
