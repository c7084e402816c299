// expect: by name: {.lr = 0.1}
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

const auto model = tessera::nn::make<tessera::nn::Linear>(4, 8);
const tessera::optim::SGD optimizer(model->parameters(), 0.1);
