// expect: weight.value().copy_(other)
#include <tessera/nn/module.h>

void set(tessera::nn::Parameter& weight, const tessera::Tensor& pretrained) {
  weight = pretrained;
}
