// expect: for an optimizer: model->parameters()
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/adamw.h>

const auto model = tessera::nn::make<tessera::nn::Linear>(4, 8);
const tessera::optim::AdamW optimizer(model, {.lr = 1e-3});
