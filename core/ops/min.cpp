#include <tessera/core/ops/min.h>

namespace tessera {

void Min::reference(Kernel& k, const Attrs& attrs) {
  reference_extreme(k, attrs, false);
}

Tensor min(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Min>({x}, {dims, keepdim});
}

const Register<Min> register_min;

}  // namespace tessera
