// expect: no class of modules: write `struct M : nn::Module`
#include <tessera/nn/module.h>

struct Net {
  tessera::Tensor forward(const tessera::Tensor& x) const { return x; }
};

const auto net = tessera::nn::make<Net>();
