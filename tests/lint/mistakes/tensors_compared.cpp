// expect: write eq, ne, all(eq(x, y)) or x.is(y)
#include <tessera/core/ops/argmax.h>
#include <tessera/core/ops/comparison.h>

bool right(const tessera::Tensor& scores, const tessera::Tensor& label) {
  return argmax(scores, 0) == label;
}
