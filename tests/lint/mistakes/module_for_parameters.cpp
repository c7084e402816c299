// expect: for an optimizer: model.parameters()
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/sgd.h>

const auto model = tessera::nn::make<tessera::nn::Linear>(4, 8);
const tessera::optim::SGD optimizer(*model, {.lr = 0.1, .momentum = 0.9});
