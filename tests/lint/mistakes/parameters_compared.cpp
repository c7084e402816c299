// expect: write eq, ne, all(eq(x, y)) or x.is(y)
#include <tessera/core/ops/comparison.h>
#include <tessera/nn/module.h>

bool moved(const tessera::nn::Parameter& now, const tessera::nn::Parameter& before) {
  return now != before;
}
