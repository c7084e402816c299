// expect: no class of modules: write `struct M : nn::Module`
#include <tessera/nn/module.h>

struct Half {
  tessera::Tensor forward(const tessera::Tensor& x) const { return x; }
};

struct Net : tessera::nn::Module {
  tessera::nn::Child<Half> half{this, "half"};
  tessera::Tensor forward(const tessera::Tensor& x) const { return half(x); }
};

const auto net = tessera::nn::make<Net>();
