// expect: forward is not const: write `Tensor forward(const Tensor& x) const`
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::Tensor forward(const tessera::Tensor& x) { return x; }
};

tessera::Tensor run(const tessera::Tensor& x) {
  return tessera::nn::make<Net>()(x);
}
