// expect: the module has no public forward that takes the call's arguments
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::Tensor foward(const tessera::Tensor& x) const { return x; }
};

tessera::Tensor run(const tessera::Tensor& x) {
  return tessera::nn::make<Net>()(x);
}
