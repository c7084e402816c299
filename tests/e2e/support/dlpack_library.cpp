// What tests/e2e/dlpack calls from Python.
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/dlpack.h>
#include <tessera/core/tensor/factories.h>

using namespace tessera;

namespace {
Tensor kept;
}

extern "C" {

/// The matrix (3, 2) of 0 to 5 in `dtype`, transposed, which Tessera keeps too.
dlpack::ManagedTensor* give(const char* dtype) {
  kept = zeros({2, 3}, {.dtype = parse_dtype(dtype)});
  kept.copy_(reshape(arange(6, {.dtype = DType::f64}), {2, 3}));
  return to_dlpack(permute(kept, {1, 0}));
}

/// The sum of what it kept.
double sum_of_kept() {
  return sum(kept).item();
}

/// The sum of what it is given. Doubles its elements in place.
double take(dlpack::ManagedTensor* managed) {
  const Tensor x = from_dlpack(managed);
  const double before = sum(x).item();
  x.copy_(x * 2.0);
  return before;
}
}
