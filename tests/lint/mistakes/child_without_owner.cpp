// expect: the child has no owner: write `nn::Child<M> member{this,
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Child<tessera::nn::Linear> hidden{"hidden", 4, 8};
  tessera::Tensor forward(const tessera::Tensor& x) const { return hidden(x); }
};

const auto net = tessera::nn::make<Net>();
