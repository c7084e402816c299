// expect: no constructor of the module takes these arguments
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Child<tessera::nn::Linear> hidden{this, "hidden", "4", 8};
};

const auto net = tessera::nn::make<Net>();
