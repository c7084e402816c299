#include <tessera/core/ops/abs.h>

#include <gtest/gtest.h>

#include <array>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "support/expect_numbers.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_numbers;

const RegisterOpCase<Abs> kAbsCase{{
    .samples = {{.inputs = {real({4, 6}).away_from_zero()}},
                {.inputs = {complex({4}).away_from_zero()}}},
    .wrong = {{.inputs = {booleans({3})}}},
    .dtypes = kNumberDTypes,
}};

TEST(Abs, of_a_complex_0_has_derivatives_of_0) {
  const Tensor x = tensor<double>({0, 3}).set_requires_grad(true);
  const Tensor y = sum(abs(cast(x, DType::c128)));
  const Tensor first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true})[0];
  expect_numbers(first, {0, 1});
  expect_numbers(grad(std::array{sum(first)}, std::array{x})[0], {0, 0});
}

}  // namespace
}  // namespace tessera
