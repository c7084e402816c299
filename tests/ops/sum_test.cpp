#include <tessera/core/ops/sum.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/mul.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Sum> kSumCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dims = {1}}},
                {.inputs = {real({4, 6})}, .attrs = {.dims = {-1, 0}, .keepdim = true}},
                {.inputs = {real({4, 3})}},
                {.inputs = {real({1, 2, 3})}, .attrs = {.dims = {1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dims = {1}}},
              {.inputs = {real({4, 2})}, .attrs = {.dims = {0, -2}}}},
    .dtypes = kAllDTypes,
}};

TEST(Sum, bits_do_not_depend_on_passes) {
  using testing_support::Inputs;
  using testing_support::numbers;
  const auto of_everything = [](const Inputs& p, const Inputs& x) {
    const Tensor y = linear(x[0], p[0]);
    return sum(y * y);
  };
  testing_support::expect_same_bits_for_all_passes(of_everything, {numbers({3, 5}, 2, DType::f32)},
                                                   {numbers({8, 5}, 1, DType::f32)});
}

}  // namespace
}  // namespace tessera
