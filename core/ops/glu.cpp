#include <tessera/core/ops/glu.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

Tensor glu(const Tensor& x, int dim) {
  const Shape shape = unstacked_shape(x);
  check_has_dims("glu", shape);
  const std::int64_t size = shape[normalize_dim("glu", dim, shape.size())];
  check(size % 2 == 0, "glu: wrong size of dim ", dim, "; got ", size, ", expected an even one");
  return slice(x, dim, 0, size / 2) * sigmoid(slice(x, dim, size / 2));
}

}  // namespace tessera
