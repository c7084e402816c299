// Reductions of a 0-d tensor and of no elements, and their gradients.
#include <gtest/gtest.h>

#include <tessera/core/ops/logsumexp.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/min.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/prod.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "ops/gradients.h"

namespace tessera {
namespace {

using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Inputs;

using Reduce = Tensor (*)(const Tensor& x, const Dims& dims, bool keepdim);

TEST(SmallReductions, of_a_0d_tensor_have_gradients) {
  const auto euclidean = [](const Tensor& x, const Dims& dims, bool keepdim) {
    return norm(x, 2, dims, keepdim);
  };
  for (const Reduce reduce : {Reduce{sum}, Reduce{mean}, Reduce{prod}, Reduce{max}, Reduce{min},
                              Reduce{logsumexp}, Reduce{euclidean}}) {
    for (const bool keepdim : {false, true}) {
      const auto f = [&](const Inputs& x) { return reduce(x[0], {}, keepdim) * x[0]; };
      expect_gradients(f, {scalar(0.75, {.dtype = DType::f64})});
      expect_second_gradients(f, {scalar(0.75, {.dtype = DType::f64})});
    }
  }
}

TEST(SmallReductions, over_a_dim_without_elements_have_gradients_without_elements) {
  for (const Reduce reduce : {Reduce{sum}, Reduce{mean}, Reduce{prod}, Reduce{logsumexp}}) {
    for (const bool keepdim : {false, true}) {
      for (const Dims& dims : {Dims{}, Dims{1}, Dims{0, 1}}) {
        const Tensor x = zeros({2, 0}, {.dtype = DType::f64}).set_requires_grad(true);
        sum(reduce(x, dims, keepdim)).backward();
        EXPECT_EQ(x.grad().shape(), (Shape{2, 0}));
      }
    }
  }
  for (const double p : {0.0, 0.5, 1.0, 2.0, 3.0}) {
    const Tensor x = zeros({2, 0}, {.dtype = DType::f64}).set_requires_grad(true);
    sum(norm(x, p, {1})).backward();
    EXPECT_EQ(x.grad().shape(), (Shape{2, 0})) << p;
  }
}

}  // namespace
}  // namespace tessera
