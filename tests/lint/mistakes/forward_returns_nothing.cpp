// expect: forward returns nothing: let it return a Tensor
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/make.h>

struct Net : tessera::nn::Module {
  tessera::nn::Child<tessera::nn::Linear> hidden{this, "hidden", 2, 2};
  void forward(const tessera::Tensor& x) const { hidden(x); }
};

void run() {
  const auto net = tessera::nn::make<Net>();
  net(tessera::ones({1, 2}));
}
