// expect: no value: zeros(shape)
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Buffer mean{this, "mean", {3}};
};

const auto net = tessera::nn::make<Net>();
