// expect: options with their type: ConvOptions{.stride = 2}
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/sequential.h>

void fill(tessera::nn::Sequential& stack) {
  stack.add<tessera::nn::Conv2d>(2, 3, 3, {.stride = 2});
}
