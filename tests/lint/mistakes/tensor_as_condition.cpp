// expect: no condition: write x.item<bool>(), any, all or x.defined()
#include <tessera/core/ops/comparison.h>

bool improved(const tessera::Tensor& loss, double best) {
  if (loss < best) {
    return true;
  }
  return false;
}
