// expect: register_parameter(name, value)
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  tessera::nn::Parameter scale{tessera::ones({3})};
};

const auto net = tessera::nn::make<Net>();
