// expect: write `struct M : nn::Module`
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/make.h>

class Net : tessera::nn::Module {
 public:
  tessera::nn::Child<tessera::nn::Linear> hidden{this, "hidden", 2, 2};
  tessera::Tensor forward(const tessera::Tensor& x) const { return hidden(x); }
};

void run() {
  const auto net = tessera::nn::make<Net>();
  net(tessera::ones({1, 2}));
}
