// expect: write nn::make<M>(...)
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

struct Net : tessera::nn::Module {
  Net() { register_module("hidden", tessera::nn::Linear(4, 8)); }
};

const auto net = tessera::nn::make<Net>();
