#include <tessera/core/ops/argmax.h>

namespace tessera {

void Argmax::reference(Kernel& k, const Attrs& attrs) {
  reference_position(k, attrs, true);
}

Tensor argmax(const Tensor& x, int dim, bool keepdim) {
  return call<Argmax>({x}, {.dims = {dim}, .keepdim = keepdim});
}
Tensor argmax(const Tensor& x) {
  return call<Argmax>({x});
}

const Register<Argmax> register_argmax;

}  // namespace tessera
