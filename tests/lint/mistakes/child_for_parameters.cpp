// expect: for an optimizer: child->parameters()
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/sgd.h>

void add(tessera::optim::SGD& optimizer, const tessera::nn::Child<tessera::nn::Linear>& head) {
  optimizer.add_group(head, {.lr = 0.1});
}
