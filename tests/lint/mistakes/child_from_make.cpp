// expect: write {this, "member", arguments of the module}
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Child<tessera::nn::Linear> hidden = tessera::nn::make<tessera::nn::Linear>(4, 8);
  tessera::Tensor forward(const tessera::Tensor& x) const { return hidden(x); }
};

const auto net = tessera::nn::make<Net>();
