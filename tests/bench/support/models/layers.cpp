// Single layers, forward and backward.
#include <tessera/core/ops/sum.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

#include "support/models/training.h"

namespace tessera::bench {
namespace {

struct LinearLayer : nn::Module {
  Tensor forward(const Tensor& x) const { return layer(x); }

  nn::Child<nn::Linear> layer{this, "layer", 768, 768};
};

struct ConvolutionLayer : nn::Module {
  Tensor forward(const Tensor& x) const { return layer(x); }

  nn::Child<nn::Conv2d> layer{this, "layer", 64,
                              64,   3,       nn::ConvOptions{.padding = 1, .bias = false}};
};

template <class M>
std::unique_ptr<Training> layer(const Shape& shape, DType dtype) {
  Tensor x = random_input(shape, dtype);
  x.set_requires_grad(true);
  return train<M, optim::SGD>({.lr = 1e-6}, dtype, [x](const nn::Ptr<M>& model) {
    x.set_grad(Tensor());
    return sum(model(x));
  });
}

}  // namespace

std::unique_ptr<Training> linear_layer(DType dtype) {
  return layer<LinearLayer>({512, 768}, dtype);
}
std::unique_ptr<Training> convolution_layer(DType dtype) {
  return layer<ConvolutionLayer>({32, 64, 32, 32}, dtype);
}

}  // namespace tessera::bench
