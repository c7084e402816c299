// expect: no condition: item<bool>(), any, all or defined()
#include <tessera/nn/module.h>

int count(const tessera::nn::Parameter& bias) {
  return bias ? 2 : 1;
}
