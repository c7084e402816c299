// expect: no constructor of the module takes these arguments
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

const auto layer = tessera::nn::make<tessera::nn::Linear>(4, 8, "bias");
