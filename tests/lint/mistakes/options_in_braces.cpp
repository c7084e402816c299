// expect: options with their type: ConvOptions{.stride = 2}
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/module.h>

const auto layer = tessera::nn::make<tessera::nn::Conv2d>(2, 3, 3, {.stride = 2});
