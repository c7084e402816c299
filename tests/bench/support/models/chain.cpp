#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/optim/sgd.h>

#include "support/models/training.h"

namespace tessera::bench {
namespace {

constexpr int kLayers = 20;
constexpr std::int64_t kChainWidth = 64;

struct Chain : nn::Module {
  Chain() {
    for (int i = 0; i < kLayers; ++i) {
      layers->add(kChainWidth, kChainWidth);
    }
  }
  Tensor forward(Tensor x) const {
    for (const auto& layer : *layers) {
      x = relu(layer(x));
    }
    return x;
  }

  nn::Child<nn::ModuleList<nn::Linear>> layers{this, "layers"};
};

}  // namespace

std::unique_ptr<Training> chain(DType dtype) {
  const Tensor x = random_input({8, kChainWidth}, dtype);
  return train<Chain, optim::SGD>({.lr = 1e-6}, dtype,
                                  [x](const nn::Ptr<Chain>& model) { return sum(model(x)); });
}

}  // namespace tessera::bench
