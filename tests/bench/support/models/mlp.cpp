#include <tessera/core/ops/relu.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/optim/adamw.h>

#include "support/models/training.h"

namespace tessera::bench {
namespace {

struct Mlp : nn::Module {
  Tensor forward(const Tensor& x) const { return out(relu(second(relu(first(x))))); }

  nn::Child<nn::Linear> first{this, "first", 784, 512};
  nn::Child<nn::Linear> second{this, "second", 512, 512};
  nn::Child<nn::Linear> out{this, "out", 512, 10};
};

}  // namespace

std::unique_ptr<Training> mlp(DType dtype) {
  const Tensor x = random_input({128, 784}, dtype), y = random_classes({128}, 10);
  return train<Mlp, optim::AdamW>({.lr = 1e-3}, dtype, [x, y](const nn::Ptr<Mlp>& model) {
    return nn::cross_entropy_loss(model(x), y);
  });
}

}  // namespace tessera::bench
