// expect: no values: init::constant(0)
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Parameter scale{this, "scale", {3}};
};

const auto net = tessera::nn::make<Net>();
