// expect: has no name
#include <tessera/nn/init/constant.h>
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Parameter scale{this, {3}, tessera::nn::init::constant(1)};
};

const auto net = tessera::nn::make<Net>();
