// expect: by name: {.lr = 0.1}
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

const auto model = tessera::nn::make<tessera::nn::Linear>(4, 8);
const tessera::optim::AdamW optimizer(model->parameters(), 1e-3, 0.9);
