// Gradients of extremes where a nan is the result, or more elements share it than f16 counts: what
// PyTorch gives.
#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/min.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "support/expect_numbers.h"

namespace tessera {
namespace {

using testing_support::Doubles;
using testing_support::expect_numbers;

using Extreme = Tensor (*)(const Tensor& x, const Dims& dims, bool keepdim);
using ExtremeOfTwo = Tensor (*)(const Tensor& x, const Tensor& y);

TEST(NanGradients, nans_share_the_gradient_of_a_reduction) {
  for (const Extreme f : {Extreme{max}, Extreme{min}}) {
    const Tensor x = from_values<double>({1, NAN, 3, NAN, 2, 2, 2, 2}, {2, 4});
    const Tensor leaf = x.detach().set_requires_grad(true);
    sum(f(leaf, {1}, false)).backward();
    expect_numbers(leaf.grad(), {0, 0.5, 0, 0.5, 0.25, 0.25, 0.25, 0.25});
  }
}

TEST(NanGradients, beside_a_nan_both_sides_have_the_gradient) {
  for (const ExtremeOfTwo f : {ExtremeOfTwo{maximum}, ExtremeOfTwo{minimum}}) {
    const Tensor x = tensor<double>({1, NAN, 3, NAN, 2}).set_requires_grad(true);
    const Tensor y = tensor<double>({NAN, 1, 3, NAN, 1}).set_requires_grad(true);
    sum(f(x, y)).backward();
    const bool first = f(tensor({2.F}), tensor({1.F})).item() == 2;
    expect_numbers(x.grad(), {1, 1, 0.5, 1, first ? 1.0 : 0.0});
    expect_numbers(y.grad(), {1, 1, 0.5, 1, first ? 0.0 : 1.0});
  }
}

TEST(NanGradients, clamp_has_none) {
  const Tensor x = tensor<double>({NAN, -1, 0, 1, 2, 3}).set_requires_grad(true);
  sum(clamp(x, 0, 2)).backward();
  expect_numbers(x.grad(), {0, 0, 0, 1, 0, 0});
}

TEST(Extremes, share_a_gradient_among_more_than_16_bits_count) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (const Extreme f : {Extreme{max}, Extreme{min}}) {
      const Tensor x = ones({70'000}, {.dtype = dtype}).set_requires_grad(true);
      f(x, {}, false).backward();
      EXPECT_NEAR(x.grad().to_vector<double>()[3], 1.0 / 70'000, 1e-7) << dtype;
    }
  }
}

}  // namespace
}  // namespace tessera
