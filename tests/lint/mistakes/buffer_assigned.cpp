// expect: buffer.assign(other)
#include <tessera/core/ops/add.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/module.h>

struct Counts : tessera::nn::Module {
  tessera::nn::Buffer n{this, "n", tessera::zeros({})};
  tessera::Tensor forward(const tessera::Tensor& x) {
    n = n + 1;
    return x;
  }
};
