#include <tessera/core/ops/max.h>

namespace tessera {

void Max::reference(Kernel& k, const Attrs& attrs) {
  reference_extreme(k, attrs, true);
}

Tensor max(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Max>({x}, {dims, keepdim});
}

const Register<Max> register_max;

}  // namespace tessera
