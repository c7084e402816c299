// The activations beside the contract's six: printed forms, in-place forms, errors. Their values
// and gradients are compared with PyTorch's in tests/ops/golden.
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/activation/celu.h>
#include <tessera/nn/layers/activation/elu.h>
#include <tessera/nn/layers/activation/glu.h>
#include <tessera/nn/layers/activation/hardsigmoid.h>
#include <tessera/nn/layers/activation/hardswish.h>
#include <tessera/nn/layers/activation/hardtanh.h>
#include <tessera/nn/layers/activation/leaky_relu.h>
#include <tessera/nn/layers/activation/log_sigmoid.h>
#include <tessera/nn/layers/activation/log_softmax.h>
#include <tessera/nn/layers/activation/mish.h>
#include <tessera/nn/layers/activation/relu6.h>
#include <tessera/nn/layers/activation/selu.h>
#include <tessera/nn/layers/activation/silu.h>
#include <tessera/nn/layers/activation/softmax.h>
#include <tessera/nn/layers/activation/softplus.h>
#include <tessera/nn/layers/activation/softsign.h>

namespace tessera::nn {
namespace {

TEST(Activations, print_as_in_pytorch) {
  EXPECT_EQ(make<SiLU>(true)->repr(), "SiLU(inplace=True)");
  EXPECT_EQ(make<Mish>()->repr(), "Mish()");
  EXPECT_EQ(make<LeakyReLU>()->repr(), "LeakyReLU(negative_slope=0.01)");
  EXPECT_EQ(make<LeakyReLU>(0.2, true)->repr(), "LeakyReLU(negative_slope=0.2, inplace=True)");
  EXPECT_EQ(make<ELU>()->repr(), "ELU(alpha=1.0)");
  EXPECT_EQ(make<ELU>(2.5, true)->repr(), "ELU(alpha=2.5, inplace=True)");
  EXPECT_EQ(make<SELU>()->repr(), "SELU()");
  EXPECT_EQ(make<CELU>(1e-5)->repr(), "CELU(alpha=1e-05)");
  EXPECT_EQ(make<Softplus>()->repr(), "Softplus(beta=1.0, threshold=20.0)");
  EXPECT_EQ(make<Softsign>()->repr(), "Softsign()");
  EXPECT_EQ(make<Hardtanh>()->repr(), "Hardtanh(min_val=-1.0, max_val=1.0)");
  EXPECT_EQ(make<Hardtanh>(-2, 2, true)->repr(),
            "Hardtanh(min_val=-2.0, max_val=2.0, inplace=True)");
  EXPECT_EQ(make<Hardsigmoid>(true)->repr(), "Hardsigmoid()");
  EXPECT_EQ(make<Hardswish>(true)->repr(), "Hardswish()");
  EXPECT_EQ(make<ReLU6>(true)->repr(), "ReLU6(inplace=True)");
  EXPECT_EQ(make<LogSigmoid>()->repr(), "LogSigmoid()");
  EXPECT_EQ(make<Softmax>()->repr(), "Softmax(dim=None)");
  EXPECT_EQ(make<LogSoftmax>(-1)->repr(), "LogSoftmax(dim=-1)");
  EXPECT_EQ(make<GLU>()->repr(), "GLU(dim=-1)");
}

/// Value and gradient of `module` at points on both sides of all kinks.
template <class M>
std::pair<std::vector<float>, std::vector<float>> value_and_gradient(const M& module,
                                                                     bool inplace) {
  const Tensor leaf = tensor<float>({-4, -3, -1, 0, 0.5F, 3, 7}).set_requires_grad(true);
  const Tensor x = leaf * 1.0;
  const Tensor y = module(x);
  EXPECT_EQ(y.is(x), inplace);
  y.backward(ones({7}));
  return {y.to_vector<float>(), leaf.grad().to_vector<float>()};
}

/// The module in place gives what it gives otherwise, in the tensor that it was given.
template <class M, class... A>
void expect_same_in_place(const A&... arguments) {
  EXPECT_EQ(value_and_gradient(make<M>(arguments..., true), true),
            value_and_gradient(make<M>(arguments..., false), false))
      << typeid(M).name();
}

TEST(Activations, work_in_place) {
  expect_same_in_place<SiLU>();
  expect_same_in_place<Mish>();
  expect_same_in_place<LeakyReLU>(0.1);
  expect_same_in_place<ELU>(1.5);
  expect_same_in_place<SELU>();
  expect_same_in_place<CELU>(2.0);
  expect_same_in_place<Hardtanh>(-2.0, 2.0);
  expect_same_in_place<Hardsigmoid>();
  expect_same_in_place<Hardswish>();
  expect_same_in_place<ReLU6>();
}

TEST(Activations, refuse_options_that_mean_nothing) {
  EXPECT_THROW(make<Hardtanh>(1.0, 1.0), ValueError);
  EXPECT_THROW(make<CELU>(0.0)(ones({2})), ValueError);
  EXPECT_THROW(make<GLU>()(ones({3})), InvalidArgument);
  EXPECT_THROW(make<GLU>()(scalar(1)), InvalidArgument);
  EXPECT_THROW(make<GLU>(2)(ones({2, 4})), InvalidArgument);
}

TEST(Activations, softmax_without_a_dim_guesses_as_pytorch_does) {
  const auto softmax = make<Softmax>();
  EXPECT_EQ(softmax(ones({2})).to_vector<float>()[0], 0.5F);
  EXPECT_EQ(softmax(ones({2, 4})).to_vector<float>()[0], 0.25F);
  EXPECT_EQ(softmax(ones({2, 4, 8})).to_vector<float>()[0], 0.5F);
  EXPECT_FLOAT_EQ(make<LogSoftmax>()(ones({2, 4})).to_vector<float>()[0], -std::log(4.0F));
}

}  // namespace
}  // namespace tessera::nn
