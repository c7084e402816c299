// expect: by name: {.lr = 0.1}
#include <tessera/nn/optim/sgd.h>

void add(tessera::optim::SGD& optimizer, const std::vector<tessera::nn::Parameter>& parameters) {
  optimizer.add_group(parameters, 0.1);
}
