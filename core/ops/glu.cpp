#include <tessera/core/ops/glu.h>

#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/slice.h>

namespace tessera {

Tensor glu(const Tensor& x, int dim) {
  check(x.ndim() > 0, "glu: needs a dim; got a single number");
  const std::int64_t size = x.size(dim);
  check(size % 2 == 0, "glu: the dim cannot be halved; got size ", size);
  return slice(x, dim, 0, size / 2) * sigmoid(slice(x, dim, size / 2));
}

}  // namespace tessera
