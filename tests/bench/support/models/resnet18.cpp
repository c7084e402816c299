// ResNet-18 for CIFAR (He et al., "Deep Residual Learning for Image Recognition", CVPR 2016): four
// stages of two blocks, without the first layer's stride and pool.
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/optim/sgd.h>

#include "support/models/training.h"

namespace tessera::bench {
namespace {

/// A convolution and its norm.
struct ConvNorm : nn::Module {
  ConvNorm(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride)
      : conv(this, "conv", in, out, kernel,
             nn::ConvOptions{.stride = stride, .padding = kernel / 2, .bias = false}),
        norm(this, "norm", out) {}
  Tensor forward(const Tensor& x) const { return norm(conv(x)); }

  nn::Child<nn::Conv2d> conv;
  nn::Child<nn::BatchNorm2d> norm;
};

/// Two of them beside a way past, which is a convolution where the shape changes.
struct Block : nn::Module {
  Block(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(this, "first", in, out, 3, stride), second(this, "second", out, out, 3, 1) {
    if (in != out) {
      past.emplace(this, "past", in, out, 1, stride);
    }
  }
  Tensor forward(const Tensor& x) const {
    const Tensor y = second(relu(first(x)));
    return relu(y + (past ? (*past)(x) : x));
  }

  nn::Child<ConvNorm> first, second;
  std::optional<nn::Child<ConvNorm>> past;
};

struct ResNet18 : nn::Module {
  ResNet18() {
    std::int64_t in = 64;
    for (const std::int64_t out : {64, 128, 256, 512}) {
      blocks->add<Block>(in, out, out == in ? 1 : 2);
      blocks->add<Block>(out, out, 1);
      in = out;
    }
  }
  Tensor forward(const Tensor& x) const { return head(flat(pool(blocks(relu(stem(x)))))); }

  nn::Child<ConvNorm> stem{this, "stem", 3, 64, 3, 1};
  nn::Child<nn::Sequential> blocks{this, "blocks"};
  nn::Child<nn::AdaptiveAvgPool2d> pool{this, "pool", 1};
  nn::Child<nn::Flatten> flat{this, "flat"};
  nn::Child<nn::Linear> head{this, "head", 512, 10};
};

}  // namespace

std::unique_ptr<Training> resnet18(DType dtype) {
  const Tensor x = random_input({32, 3, 32, 32}, dtype), y = random_classes({32}, 10);
  return train<ResNet18, optim::SGD>(
      {.lr = 0.05, .momentum = 0.9, .weight_decay = 5e-4}, dtype,
      [x, y](const nn::Ptr<ResNet18>& model) { return nn::cross_entropy_loss(model(x), y); });
}

}  // namespace tessera::bench
