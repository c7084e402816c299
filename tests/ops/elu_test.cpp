#include <tessera/core/ops/elu.h>

#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "support/expect_numbers.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::Doubles;
using testing_support::expect_numbers;

const RegisterOpCase<Elu> kEluCase{{
    .samples = {{.inputs = {real({4, 6}, -3, 3).away_from_zero()}, .attrs = {.alpha = 1.5}},
                {.inputs = {real({8}).away_from_zero()},
                 .attrs = {.alpha = 0.5, .scale = 1.25, .input_scale = 2}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

/// First and second derivatives at -1, 0, -0 and 1.
void expect_elu_derivatives(Tensor (*f)(const Tensor& x), const Doubles& first,
                            const Doubles& second) {
  const Tensor x = tensor<double>({-1, 0, -0.0, 1}).set_requires_grad(true);
  const Tensor slopes = grad(std::array{sum(f(x))}, std::array{x}, {}, {.create_graph = true})[0];
  expect_numbers(slopes, first);
  expect_numbers(grad(std::array{sum(slopes)}, std::array{x})[0], second);
}

TEST(Elu, derivatives_at_0_are_those_of_pytorch) {
  expect_elu_derivatives([](const Tensor& x) { return elu(x, 1.5); },
                         {0.5518191617571635, 1.5, 1.5, 1}, {0.5518191617571635, 0, 0, 0});
  expect_elu_derivatives(
      selu, {0.646768603034814, 1.7580993408473766, 1.7580993408473766, 1.0507009873554805},
      {0.646768603034814, 0, 0, 0});
  expect_elu_derivatives([](const Tensor& x) { return celu(x, 2); }, {0.6065306597126334, 1, 1, 1},
                         {0.3032653298563167, 0, 0, 0});
}

}  // namespace
}  // namespace tessera
