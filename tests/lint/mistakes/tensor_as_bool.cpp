// expect: no condition: write x.item<bool>(), any, all or x.defined()
#include <tessera/core/tensor/tensor.h>

void freeze(bool really);

void freeze_when(const tessera::Tensor& done) {
  freeze(done);
}
